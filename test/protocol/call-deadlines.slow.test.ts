/** A deadline travels down a chain of calls between three agents, in a real kernel. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bench, inState, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { until } from "../support/until.ts";

const FIRST = "test.first";
const MIDDLE = "test.middle";
const LAST = "test.last";

/** Calls the next agent, and returns how that ended for it. */
const relayTo = (next: string): string => `
import { defineAgent } from "@lares/sdk";
const ends = [];
export default defineAgent({
  tools: {
    async relay({ name, deadlines = [] }, ctx) {
      const [deadlineMs, ...rest] = deadlines;
      const options = deadlineMs == null ? {} : { deadlineMs };
      try {
        return await ctx.tools.call("${next}", { name, deadlines: rest }, options);
      } catch (error) {
        const { code, facts, message } = error;
        ends.push({ name, code, facts, message });
        return { code, facts, message };
      }
    },
    ends: () => ends,
  },
});
`;
/** `relay` never answers, whatever it is told. */
const LAST_PROGRAM = `
import { defineAgent } from "@lares/sdk";
const log = [];
export default defineAgent({
  tools: {
    relay({ name }, ctx) {
      log.push(name + " began");
      ctx.signal.addEventListener("abort", () => log.push(name + " was told"));
      return new Promise(() => {});
    },
    log: () => log,
  },
});
`;

const toolsOf = (...names: string[]) =>
  names.map((name) => ({ name, description: name, handler: name, parameters: { type: "object" } }));

interface Ended {
  readonly name?: string;
  readonly code: string;
  readonly facts: object;
  readonly message: string;
}

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    extensions: [
      {
        id: LAST,
        program: LAST_PROGRAM,
        manifest: { tools: toolsOf("relay", "log") },
      },
      {
        id: MIDDLE,
        program: relayTo(`${LAST}/relay`),
        manifest: { tools: toolsOf("relay", "ends"), permissions: { call_tools: [`${LAST}/*`] } },
      },
      {
        id: FIRST,
        program: relayTo(`${MIDDLE}/relay`),
        manifest: {
          tools: toolsOf("relay", "ends"),
          permissions: { call_tools: [`${MIDDLE}/*`, `${LAST}/*`] },
        },
      },
    ],
  });
  client = await bench.open();
  // A deadline begins before its agent is loaded, so they are loaded before.
  await tool(client, FIRST, "ends");
  await tool(client, MIDDLE, "ends");
  await tool(client, LAST, "log");
});
afterAll(() => bench[Symbol.asyncDispose]());

const logged = (line: string) =>
  until(`the last agent to say "${line}"`, async () =>
    (await tool<string[]>(client, LAST, "log")).includes(line),
  );
const endFor = (agent: string, name: string) =>
  until(`an end for ${agent}`, async () =>
    (await tool<Ended[]>(client, agent, "ends")).find((end) => end.name === name),
  );

describe("a callee that never answers", () => {
  test("ends with DeadlineExceeded down the chain, and each error names whose deadline it was", async () => {
    const facts = { deadline_ms: 1_000, set_by: FIRST, call: `${MIDDLE}/relay` };
    const message = `The deadline of 1000 ms that ${FIRST} set for ${MIDDLE}/relay has passed.`;
    const ended = await tool<Ended>(client, FIRST, "relay", { name: "one", deadlines: [1_000] });
    expect(ended).toMatchObject({ code: "DeadlineExceeded", facts, message });
    expect(await endFor(MIDDLE, "one")).toMatchObject({ code: "DeadlineExceeded", facts, message });
    await logged("one was told");
  });

  test("ends by its caller's own deadline, if that is the shorter one; the outer callers continue", async () => {
    const ended = await tool<Ended>(client, FIRST, "relay", { name: "two", deadlines: [600_000, 1_000] });
    expect(ended).toMatchObject({
      code: "DeadlineExceeded",
      facts: { deadline_ms: 1_000, set_by: MIDDLE, call: `${LAST}/relay` },
    });
    await logged("two was told");
    expect((await tool<Ended[]>(client, FIRST, "ends")).filter(({ name }) => name === "two")).toEqual([]);
  });

  test("does not get more time by a longer deadline of its caller", async () => {
    const ended = await tool<Ended>(client, FIRST, "relay", { name: "three", deadlines: [1_000, 600_000] });
    expect(ended).toMatchObject({ code: "DeadlineExceeded", facts: { set_by: FIRST } });
    expect(await endFor(MIDDLE, "three")).toMatchObject({ facts: { set_by: FIRST, deadline_ms: 1_000 } });
  });

  test("ends by the deadline of a person at a client", async () => {
    const call = { agent: FIRST, name: "relay", arguments: { name: "four" }, deadline_ms: 1_000 };
    await expect(client.request("lares/tools/call", call)).rejects.toMatchObject({
      code: -33021,
      data: { code: "DeadlineExceeded", deadline_ms: 1_000, set_by: "a person", call: `${FIRST}/relay` },
    });
    expect(await endFor(FIRST, "four")).toMatchObject({ code: "DeadlineExceeded" });
    await logged("four was told");
  });

  test("leaves its agent free: the same guest answers other calls, and is idle once its handlers are given up", async () => {
    // All that began are still in the memory of the guest, so it is the same one.
    const log = await tool<string[]>(client, LAST, "log");
    expect(log.filter((line) => line.endsWith("began"))).toHaveLength(4);
    await inState(client, LAST, "Active");
    const traces = await client.request<{ message: string }[]>("lares/traces/query", { agent: LAST });
    expect(traces.filter(({ message }) => message.includes("max_wall"))).toEqual([]);
  });
});
