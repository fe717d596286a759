import { afterAll, beforeAll, expect, test } from "vitest";
import { agent, Bench, inState, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { CODES, type TraceEntry } from "../support/types.ts";
import { until } from "../support/until.ts";
import { abiGuest } from "../support/wasm.ts";

const GUEST = "test.guest";

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    extensions: [
      {
        id: GUEST,
        files: { "agent.wasm": abiGuest() },
        manifest: {
          main: "agent.wasm",
          permissions: { read_entries: true },
          agent: { activation: "eager" },
          hooks: [{ on: "EntryCreated", handler: "seen", filter: 'entry.extension == "txt"' }],
          tools: [
            {
              name: "conflict",
              description: "swaps too late",
              handler: "conflict",
              parameters: { type: "object" },
            },
          ],
        },
      },
    ],
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

test("a handmade guest is started, initialized and Active", async () => {
  await inState(client, GUEST, "Active");
  // A guest's usage is reported a moment after it was busy.
  await expect
    .poll(async () => (await inState(client, GUEST, "Active")).metrics.peak_memory_bytes, { timeout: 20_000 })
    .toBeGreaterThanOrEqual(32 * 65_536);
});

test("its hook handles events and its trace lines arrive", async () => {
  await bench.write("a.txt", "x");
  const entry = await until(
    "its trace",
    async () =>
      (await client.request<TraceEntry[]>("lares/traces/query", { agent: GUEST, text: "hand-made" }))[0],
  );
  expect(entry).toMatchObject({ level: "info", hook: "seen", fields: { by: "hand" } });
  await until("the acknowledgement", async () => (await agent(client, GUEST)).metrics.events_processed === 1);
});

test("memory/working/swap at a wrong revision is Conflict, and names the current one", async () => {
  expect(await tool(client, GUEST, "conflict")).toMatchObject({
    jsonrpc: "2.0",
    error: { code: CODES.Conflict, data: { code: "Conflict", revision: expect.any(Number) } },
  });
});

test("it gets shutdown, and ends", async () => {
  await client.request("lares/agents/control", { id: GUEST, command: "disable" });
  await inState(client, GUEST, "Unloaded");
});
