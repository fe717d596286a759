import { afterAll, beforeAll, expect, test } from "vitest";
import { Bench, inState, type ExtensionSpec } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import type { Agent, TraceEntry } from "../support/types.ts";
import { until } from "../support/until.ts";

const ID = "test.renamed";

/** The same agent with another name of its handler. */
const withHandler = (handler: string): ExtensionSpec => ({
  id: ID,
  program: `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  hooks: { async ${handler}({ entry }, ctx) { ctx.trace.info("${handler} sees " + entry.name); } },
});
`,
  manifest: {
    permissions: { read_entries: true },
    hooks: [{ on: "EntryCreated", filter: 'entry.extension == "txt"', handler }],
  },
});

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({ extensions: [withHandler("before")] });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

const traces = async (): Promise<string[]> =>
  (await client.request<TraceEntry[]>("lares/traces/query", { agent: ID, limit: 100 })).map(
    ({ message }) => message,
  );
const hasTrace = async (part: string): Promise<boolean> =>
  (await traces()).some((message) => message.includes(part));

test("events that wait for a handler which a reload removes are dropped with a trace; the agent works on with the new one", async () => {
  await bench.write("a.txt", "a");
  await until("the first event", () => hasTrace("before sees a.txt"));
  await client.request("lares/agents/control", { id: ID, command: "suspend" });
  for (const name of ["b", "c", "d", "e", "f"]) await bench.write(`${name}.txt`, name);
  await until("the events to wait", async () => {
    const [agent] = await client.request<Agent[]>("lares/agents/list", {});
    return agent?.metrics.events_received === 6;
  });

  const { digest } = (await bench.status(client)).trust;
  await bench.writeExtension(withHandler("after"));
  await bench.accept(client, digest);
  await until("the waiting events to be dropped", () =>
    hasTrace("the event EntryCreated was dropped: its manifest has no hook for before any more"),
  );
  await bench.write("z.txt", "z");
  await until("the new handler", () => hasTrace("after sees z.txt"));
  const { error } = await inState(client, ID, "Active");
  expect(error).toBeUndefined();
  expect(await traces()).not.toContainEqual(expect.stringMatching(/failed|has no hook "/));
});
