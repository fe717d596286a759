import { expect, test } from "vitest";
import { ForeignPlaces } from "../../../agent-state/foreign-places.ts";
import { agentStateMigrations } from "../../../agent-state/migrations.ts";
import { OpenCalls } from "../../../agents/calls/open-calls.ts";
import type { Caller } from "../../../agents/ports.ts";
import { silentLog } from "../../../base/log.ts";
import type { Foreign } from "../../../base/vocabulary/foreign.ts";
import { ownAccord, withSources } from "../../../base/vocabulary/principal.ts";
import { openNearDatabase } from "../../../platform/testing/near-database.ts";
import type { GuestServices } from "../../../protocol/guest/v1/calls.ts";
import { followForeign } from "./foreign.ts";

const web: Foreign = { "agent:web": "all" };

/** Services that answer the same to everybody, and guests that have read nothing yet. */
async function bench(answers: Readonly<Record<string, unknown>>) {
  const database = await openNearDatabase({
    path: ":memory:",
    migrations: agentStateMigrations,
    log: silentLog,
  });
  const services = Object.fromEntries(
    Object.entries(answers).map(([method, answer]) => [method, async () => answer]),
  ) as unknown as GuestServices<Caller>;
  const guests = new Map<string, OpenCalls>();
  const guest = (agent: string): OpenCalls => {
    const known = guests.get(agent) ?? new OpenCalls();
    guests.set(agent, known);
    return known;
  };
  const followed = followForeign(services, {
    places: await ForeignPlaces.open(database),
    ofFile: async (path) => (path === "downloads/a" ? { [path]: "minds" } : {}),
    ofAgent: (agent) => guest(agent).foreign,
  });
  const ask = (agent: string, method: string, params: object = {}): Promise<unknown> => {
    const open = guest(agent);
    const caller = {
      agent,
      lineage: ownAccord,
      get foreign() {
        return open.foreign;
      },
      hear: (foreign: Foreign) => open.hear(foreign),
    } as unknown as Caller;
    return (followed as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>)[method]!(
      caller,
      params,
    );
  };
  return { guest, ask };
}

const item = { id: "1" };
const found = { items: [item] };

test.each([
  ["memory/temporal/append", "memory/temporal/query", item, found],
  ["memory/temporal/append", "memory/temporal/count", item, { count: 1 }],
  ["memory/associative/add", "memory/associative/query", item, found],
  ["memory/associative/add", "memory/search", item, found],
  ["memory/associative/update", "memory/search", {}, found],
  ["memory/working/swap", "memory/working/read", { revision: 1 }, { revision: 1, state: 1 }],
  ["shared/write", "shared/read", { version: 1 }, { version: 1, value: 1 }],
])(
  "what a guest kept by %s reaches whoever reads it by %s, after it was unloaded too",
  async (write, read, wrote, got) => {
    const { guest, ask } = await bench({ [write]: wrote, [read]: got });
    guest("a").hear(web);
    await ask("a", write, { key: "k", id: "1" });
    guest("a").guestEnded(new Error("unloaded"));
    expect(guest("a").foreign).toEqual({});
    await ask("a", read, { key: "k" });
    expect(guest("a").foreign).toEqual(web);
  },
);

test("a shared memory carries it to another agent, and an own memory does not", async () => {
  const { guest, ask } = await bench({ "memory/associative/add": item, "memory/search": found });
  guest("a").hear(web);
  await ask("a", "memory/associative/add", { namespace: "team" });
  await ask("b", "memory/search");
  expect(guest("b").foreign).toEqual({});
  await ask("b", "memory/search", { namespace: "team" });
  expect(guest("b").foreign).toEqual(web);
});

test("a result of another agent's tool brings what that agent has read", async () => {
  const { guest, ask } = await bench({ "tools/call": { status: "success", value: 1 } });
  guest("b").begin("c1", withSources(ownAccord, ["agent:web"]));
  guest("b").end("c1");
  await ask("a", "tools/call", { agent: "b" });
  expect(guest("a").foreign).toEqual(web);
});

test("files and answers of the network concern what a guest does for minds, and what it keeps of them", async () => {
  const { guest, ask } = await bench({
    "vdfs/read": { base64: "" },
    "http/fetch": { status: 200 },
    "memory/associative/add": item,
    "memory/search": found,
  });
  await ask("a", "vdfs/read", { path: "clean" });
  expect(guest("a").foreign).toEqual({});
  await ask("a", "vdfs/read", { path: "downloads/a" });
  await ask("a", "http/fetch");
  const heard: Foreign = { "downloads/a": "minds", "agent:a": "minds" };
  expect(guest("a").foreign).toEqual(heard);
  await ask("a", "memory/associative/add", { namespace: "team" });
  await ask("b", "memory/search", { namespace: "team" });
  expect(guest("b").foreign).toEqual(heard);
});
