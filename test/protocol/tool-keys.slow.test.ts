import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { approve } from "../support/actions.ts";
import { host, probe } from "../support/agents.ts";
import { Bench, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import type { ToolResult } from "../support/types.ts";
import { until } from "../support/until.ts";

const LIBRARY = "test.library";
const CALLER = "test.caller";

/** Counts in working memory how often its handlers ran, so that a later guest knows it too. */
const PROGRAM = `
import { defineAgent } from "@lares/sdk";
const held = [];
const count = async (ctx) => {
  let runs = 0;
  await ctx.memory.plan.update((plan) => { runs = plan.runs += 1; return plan; });
  return runs;
};
export default defineAgent({
  memory: { plan: { runs: 0 } },
  tools: {
    run: (_, ctx) => count(ctx),
    runs: async (_, ctx) => (await ctx.memory.plan.read()).runs,
    boom: async (_, ctx) => { throw new Error("boom " + await count(ctx)); },
    hold: async (_, ctx) => { const runs = await count(ctx); await new Promise((resolve) => held.push(resolve)); return runs; },
    release: () => { for (const resolve of held.splice(0)) resolve(); },
    again: (_, ctx) => ctx.tools.call("${LIBRARY}/again", {}, { key: "again" }).catch((error) => error.code),
    async rewrite({ path }, ctx) {
      await count(ctx);
      const effects = [{ kind: "file.write", path, content: "rewritten\\n" }];
      const action = await ctx.actions.propose(effects, { title: "Rewrite", reason: "asked" });
      return ctx.needsApproval(action, "changes a file");
    },
  },
});
`;

let bench: Bench;
let client: Client;
beforeAll(async () => {
  const names = ["run", "runs", "boom", "hold", "release", "again", "rewrite"];
  bench = await Bench.create({
    files: { "a.txt": "a\n" },
    extensions: [
      {
        id: LIBRARY,
        program: PROGRAM,
        manifest: {
          permissions: {
            read_entries: true,
            propose_actions: ["file.write"],
            call_tools: [`${LIBRARY}/again`],
          },
          tools: names.map((name) => ({
            name,
            description: name,
            handler: name,
            parameters: { type: "object", properties: { n: { type: "integer" } } },
          })),
        },
      },
      probe({ id: CALLER, permissions: { call_tools: [`${LIBRARY}/*`] } }),
    ],
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

const run = (name: string, key: string, args: object = {}, by = client) =>
  by.request<ToolResult>("lares/tools/call", { agent: LIBRARY, name, arguments: args, key });
const runs = () => tool<number>(client, LIBRARY, "runs");

describe("a call with a key", () => {
  test("runs once; repeated, it has the same answer, including an error of its handler", async () => {
    const before = await runs();
    expect(await run("run", "once")).toEqual({ status: "success", value: before + 1 });
    expect(await run("run", "once")).toEqual({ status: "success", value: before + 1 });
    const failed = await run("boom", "failing");
    expect(failed).toMatchObject({ status: "error", message: expect.stringContaining(`boom ${before + 2}`) });
    expect(await run("boom", "failing")).toEqual(failed);
    expect(await runs()).toBe(before + 2);
  });

  test("race: repeated from another editor while it runs, it waits for the first and runs nothing", async () => {
    const before = await runs();
    const other = await bench.open();
    const both = [run("hold", "held"), run("hold", "held", {}, other)];
    await until("the first to run", async () => (await runs()) === before + 1);
    await tool(client, LIBRARY, "release");
    const value = { status: "success", value: before + 1 };
    expect(await Promise.all(both)).toEqual([value, value]);
    expect(await runs()).toBe(before + 1);
  });

  test("does not run if the key names another call; one that did not reach its handler may be repeated", async () => {
    await run("run", "taken");
    const before = await runs();
    const asked = { agent: LIBRARY, name: "run", arguments: { n: 1 }, key: "taken" };
    expect(await client.raw("lares/tools/call", asked)).toMatchObject({
      error: { code: -32602, data: { code: "InvalidParams", path: "key" } },
    });
    const wrong = { ...asked, key: "repeated", arguments: { n: "no" } };
    expect(await client.raw("lares/tools/call", wrong)).toMatchObject({
      error: { data: { code: "ToolError" } },
    });
    expect(await run("run", "repeated", { n: 1 })).toEqual({ status: "success", value: before + 1 });
  });

  test("repeated after its action was approved, it answers with the action's outcome", async () => {
    const asked = await run("rewrite", "rewriting", { path: "a.txt" });
    if (asked.status !== "needs_approval") throw new Error(JSON.stringify(asked));
    await approve(client, asked.action);
    expect(await readFile(bench.path("a.txt"), "utf8")).toBe("rewritten\n");
    const before = await runs();
    expect(await run("rewrite", "rewriting", { path: "a.txt" })).toMatchObject({
      status: "needs_approval",
      action: { id: asked.action.id, state: "Committed" },
    });
    expect(await runs()).toBe(before);
  });

  test("of an agent is its own: the same key of a person is another call", async () => {
    const before = await runs();
    const asked = ["tools.call", `${LIBRARY}/run`, {}, { key: "shared" }] as const;
    expect(await host(client, CALLER, ...asked)).toEqual({ value: before + 1 });
    expect(await host(client, CALLER, ...asked)).toEqual({ value: before + 1 });
    expect(await run("run", "shared")).toEqual({ status: "success", value: before + 2 });
  });

  test("that its own handler repeats is refused there instead of waiting for itself", async () => {
    // The agent calls itself with the key, and does so again in the handler of that call.
    const { value } = await tool<{ value: unknown }>(client, CALLER, "ctx", {
      path: ["tools", "call"],
      arguments: [`${LIBRARY}/again`],
    });
    expect(value).toBe("LimitExceeded");
  });

  test("terminal state: killed with its kernel, it is not run again, and its outcome is unknown", async () => {
    const before = await runs();
    const holding = run("hold", "killed").catch(() => null);
    await until("it to run", async () => (await runs()) === before + 1);
    await bench.kill((await bench.status(client)).pid);
    await holding;
    client = await bench.open();
    expect(await run("hold", "killed")).toEqual({
      status: "error",
      message: "interrupted; whether it took effect is unknown",
      recoverable: false,
    });
    expect(await run("run", "once")).toMatchObject({ status: "success" });
    expect(await runs()).toBe(before + 1);
  });
});
