import { expect, test } from "vitest";
import { ForeignPlaces } from "../../agent-state/foreign-places.ts";
import { agentStateMigrations } from "../../agent-state/migrations.ts";
import { OpenCalls } from "../../agents/calls/open-calls.ts";
import type { Caller } from "../../agents/ports.ts";
import { silentLog } from "../../base/log.ts";
import { actionPlace, type Foreign } from "../../base/vocabulary/foreign.ts";
import { LaresError } from "../../base/errors.ts";
import { ownAccord } from "../../base/vocabulary/principal.ts";
import { openNearDatabase } from "../../platform/testing/near-database.ts";
import type { GuestServices } from "../../protocol/guest/v1/calls.ts";
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
    Object.entries(answers).map(([method, answer]) => [
      method,
      async () => {
        if (answer instanceof Error) throw answer;
        return answer;
      },
    ]),
  ) as unknown as GuestServices<Caller>;
  const guests = new Map<string, OpenCalls>();
  const guest = (agent: string): OpenCalls => {
    const known = guests.get(agent) ?? new OpenCalls();
    guests.set(agent, known);
    return known;
  };
  const places = await ForeignPlaces.open(database);
  const followed = followForeign(services, {
    places,
    ofFile: async (path) => (path === "downloads/a" ? { [path]: "minds" } : {}),
    ofEntries: async (entries) => (entries.some(({ tags }) => tags?.includes("bad")) ? web : {}),
    ofSidecar: async (_path, data) => (data === "bad" ? web : {}),
    ofEffects: async (effects) => (effects.some(({ before }) => before !== null) ? web : {}),
    ofAction: async (id) => (id === "bad" ? web : places.of(actionPlace("a"), [id])),
    ofImported: (namespace, read) =>
      namespace !== "theirs" ? null : read === "all" || read === "plan" || read.includes("bad") ? web : {},
    ofSaved: async (_agent, item) => (item === "old" ? web : {}),
    keyOfValue: async (_type, value) => (value as { id: string }).id,
    ofModel: (model) => (model === "rehearsal/script" ? { scripted: "minds" } : {}),
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

const call = { conversation: "c", call: "1" };

test.each<[string, unknown, Foreign]>([
  ["a mark", { ...call, tainted: true, sources: ["web"] }, { web: "all" }],
  ["a mark without sources", { ...call, tainted: true }, { others: "all" }],
  ["no mark", { ...call, sources: ["web"] }, {}],
  ["what a program calls tainted", { tainted: true }, {}],
])("an item in whose data an earlier kernel wrote %s is read so", async (_what, data, foreign) => {
  const { guest, ask } = await bench({ "memory/search": { items: [{ id: "1", data }] } });
  await ask("a", "memory/search");
  expect(guest("a").foreign).toEqual(foreign);
});

test("the mark that stands only in an item's data stays when a program that has not read it replaces the data", async () => {
  const { guest, ask } = await bench({
    "memory/associative/update": {},
    "memory/search": { items: [{ id: "old" }] },
  });
  await ask("a", "memory/associative/update", { id: "old", text: "other words" });
  await ask("a", "memory/search");
  expect(guest("a").foreign).toEqual({});
  await ask("a", "memory/associative/update", { id: "old", data: {} });
  await ask("a", "memory/search");
  expect(guest("a").foreign).toEqual(web);
});

test("a shared memory carries it to another agent, and an own memory does not", async () => {
  const { guest, ask } = await bench({ "memory/associative/add": item, "memory/search": found });
  guest("a").hear(web);
  await ask("a", "memory/associative/add", { namespace: "team" });
  await ask("b", "memory/search");
  expect(guest("b").foreign).toEqual({});
  await ask("b", "memory/search", { namespace: "team" });
  expect(guest("b").foreign).toEqual(web);
});

test.each<[string, object, unknown, unknown]>([
  ["vdfs/query", {}, { items: [{ path: "a", tags: ["bad"] }] }, { items: [{ path: "a", tags: ["good"] }] }],
  ["vdfs/get", { path: "a" }, { path: "a", tags: ["bad"] }, null],
  ["vdfs/sidecar/read", { path: "a" }, { data: "bad" }, { data: "good" }],
  ["memory/search", { namespace: "theirs" }, { items: [{ id: "bad" }] }, { items: [{ id: "good" }] }],
  ["memory/temporal/query", { namespace: "theirs" }, { items: [{ id: "bad" }] }, { items: [] }],
])("%s brings the marks of what it shows, and of nothing else", async (method, params, marked, clean) => {
  const first = await bench({ [method]: clean });
  await first.ask("a", method, params);
  expect(first.guest("a").foreign).toEqual({});
  const second = await bench({ [method]: marked });
  await second.ask("a", method, params);
  expect(second.guest("a").foreign).toEqual(web);
});

test("another workspace's working memory and counts bring its marks, and an action what led to it", async () => {
  const { guest, ask } = await bench({
    "memory/working/read": { revision: 1, state: 1 },
    "memory/temporal/count": { count: 1 },
    "actions/get": { id: "bad", effects: [] },
    "ai/generate": { text: "x", model: "rehearsal/script" },
  });
  await ask("a", "memory/working/read", { namespace: "theirs" });
  await ask("b", "memory/temporal/count", { namespace: "theirs" });
  await ask("c", "actions/get", { id: "bad" });
  await ask("d", "ai/generate");
  const scripted: Foreign = { scripted: "minds" };
  expect(["a", "b", "c", "d"].map((agent) => guest(agent).foreign)).toEqual([web, web, web, scripted]);
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

const change = { kind: "file.delete", path: "x", before: "sha256:0", after: null };
const deleting = { id: "1", effects: [change] };
const creating = { id: "1", effects: [{ ...change, before: null }] };

test.each<[string, object, object]>([
  ["actions/preview", deleting, creating],
  ["actions/propose", deleting, creating],
  ["actions/get", deleting, creating],
  ["actions/settled", deleting, creating],
  ["actions/withdraw", deleting, creating],
  [
    "tools/call",
    { status: "needs_approval", action: deleting },
    { status: "needs_approval", action: creating },
  ],
])("%s brings the marks of the files that the action shows", async (method, shown, notShown) => {
  const params = { id: "1", effects: [] };
  const first = await bench({ [method]: notShown });
  await first.ask("a", method, params);
  expect(first.guest("a").foreign).toEqual({});
  const second = await bench({ [method]: shown });
  await second.ask("a", method, params);
  expect(second.guest("a").foreign).toEqual(web);
});

test.each(["actions/preview", "actions/propose"])(
  "a refusal of %s brings the marks of its files",
  async (method) => {
    const refused = new LaresError("InvalidParams", "It occurs 3 times.");
    const { guest, ask } = await bench({ [method]: refused });
    const edit = { kind: "file.edit", path: "downloads/a", edits: [] };
    await expect(ask("a", method, { effects: [edit] })).rejects.toBe(refused);
    expect(guest("a").foreign).toEqual({ "downloads/a": "minds" });
  },
);

test("an action holds what its agent had read, for whoever asks about it later", async () => {
  const { guest, ask } = await bench({ "actions/propose": creating, "actions/get": creating });
  const minds: Foreign = { "downloads/a": "minds" };
  guest("a").hear(minds);
  await ask("a", "actions/propose", { effects: [] });
  guest("a").guestEnded(new Error("unloaded"));
  await ask("a", "actions/get", { id: "1" });
  expect(guest("a").foreign).toEqual(minds);
});

test("a value of a shared type carries it by its key, until it is replaced by one that holds nothing foreign", async () => {
  const { guest, ask } = await bench({
    "types/create": { version: 1 },
    "types/update": { version: 2 },
    "types/remove": {},
    "types/get": { version: 1, value: {} },
  });
  const type = "a.b/Person";
  guest("a").hear(web);
  await ask("a", "types/create", { type, value: { id: "ada" } });
  await ask("b", "types/create", { type, value: { id: "bob" } });
  await ask("b", "types/get", { type, key: "bob" });
  await ask("b", "types/get", { type: "c.d/Person", key: "ada" });
  expect(guest("b").foreign).toEqual({});
  await ask("b", "types/get", { type, key: "ada" });
  expect(guest("b").foreign).toEqual(web);
  await ask("c", "types/update", { type, key: "ada", version: 1, value: { id: "ada" } });
  await ask("c", "types/get", { type, key: "ada" });
  expect(guest("c").foreign).toEqual({});
  await ask("a", "types/update", { type, key: "ada", version: 2, value: { id: "ada" } });
  await ask("c", "types/remove", { type, key: "ada", version: 3 });
  await ask("c", "types/get", { type, key: "ada" });
  expect(guest("c").foreign).toEqual({});
});
