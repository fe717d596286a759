import { afterAll, beforeAll, expect, test } from "vitest";

import { Bench, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";

const ids = ["test.first", "test.second", "test.third"];
const PROGRAM = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  tools: {
    async ask({ through = [] }, ctx) {
      const [next, ...rest] = through;
      return ["here", ...(next === undefined ? [] : await ctx.tools.call(next + "/ask", { through: rest }))];
    },
  },
});
`;

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    lares: { limits: { active_agents: 1 } },
    extensions: ids.map((id) => ({
      id,
      program: PROGRAM,
      manifest: {
        permissions: { call_tools: ids.filter((other) => other !== id).map((other) => `${other}/ask`) },
        tools: [{ name: "ask", description: "Asks others", handler: "ask", parameters: { type: "object" } }],
      },
    })),
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

test("with one place, agents that call each other in a chain are all loaded as long as they are waited for", async () => {
  const [first = "", ...through] = ids;
  expect(await tool(client, first, "ask", { through })).toEqual(["here", "here", "here"]);
});

test("with one place, a person's calls of one agent after another are all answered", async () => {
  for (const id of [...ids, ...ids]) expect(await tool(client, id, "ask")).toEqual(["here"]);
});

test("with one place, calls of all agents at once are all answered", async () => {
  const answers = ids.flatMap((id) => [
    tool(client, id, "ask", { through: ids.filter((other) => other !== id) }),
    tool(client, id, "ask"),
  ]);
  expect(await Promise.all(answers)).toEqual(ids.flatMap(() => [["here", "here", "here"], ["here"]]));
});
