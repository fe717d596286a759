import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newId } from "../base/ids.ts";
import { silentLog } from "../base/log.ts";
import { nextTurn } from "../base/next-turn.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Entry, EntryOf } from "../base/vocabulary/conversation.ts";
import { DiskTimer } from "../journal/disk-timer.ts";
import { Conversations } from "./conversations.ts";
import type { NewEntry } from "./records.ts";
import { agent, bench, channel, common, said, textOf, textsOf } from "./testing/bench.ts";

test("what was appended is found again, with the same state, after a restart", async () => {
  const { open } = await bench();
  let id = "";
  let state: unknown;
  {
    await using all = open();
    using conversation = await all.create(agent);
    const { log } = conversation;
    id = log.id;
    const seen: number[] = [];
    log.appended.on((entries) => seen.push(...entries.map(({ seq }) => seq)));
    const [first, second] = await log.append([channel, said("m1", "hello")]);
    expect(seen).toEqual([first?.seq, second?.seq]);
    state = structuredClone(log.state);
  }
  await using all = open();
  expect((await all.get(id)).state).toEqual(state);
  using conversation = await all.open(id);
  expect(conversation.log.state).toEqual(state);
  expect(conversation.log.agent).toBe(agent);
  expect(textsOf(await all.entries(id, { limit: 10 }))).toEqual(["hello"]);
  expect(await all.busy()).toEqual([id]);
});

test("a half of a character is appended as U+FFFD, and is found again so", async () => {
  const { open } = await bench();
  await using all = open();
  using conversation = await all.create(agent);
  const { log } = conversation;
  const [entry] = await log.append([channel, said("m1", "a\ud800b")]).then((entries) => entries.slice(1));
  expect(entry === undefined ? "" : textOf(entry)).toBe("a\ufffdb");
  expect(textsOf(await all.entries(log.id, { limit: 10 }))).toEqual(["a\ufffdb"]);
});

test("appends that wait for a large content keep their order", async () => {
  const { open, stateFolder } = await bench();
  const large = "x".repeat(100_000);
  await using all = open();
  using conversation = await all.create(agent);
  const { log } = conversation;
  const appended = await Promise.all([
    log.append([said("m1", large)]),
    log.append([said("m2", "small")]),
    log.append([said("m3", large)]),
  ]);
  const seqs = appended.flat().map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
  expect(textsOf(await all.entries(log.id, { limit: 10 }))).toEqual([large, "small", large]);
  const [segment = ""] = await readdir(join(stateFolder, "conversations", log.id, "log"));
  const lines = await readFile(join(stateFolder, "conversations", log.id, "log", segment), "utf8");
  expect(lines.length).toBeLessThan(5_000);
});

test("the index is made again from the log where it is missing, in part or as a whole, with large contents", async () => {
  const { open, database } = await bench();
  const large = "y".repeat(100_000);
  let id = "";
  {
    await using all = open();
    using conversation = await all.create(agent);
    const { log } = conversation;
    id = log.id;
    await log.append([channel, said("m1", "first words"), said("m2", large)]);
    await log.storePrefix("c", { version: 1, text: large });
  }
  for (const after of [3, 0]) {
    await database.batch([{ sql: "DELETE FROM conversation_entries WHERE seq > ?", params: [after] }]);
    await database.batch([{ sql: "DELETE FROM conversation_texts" }]);
    await using all = open();
    (await all.open(id))[Symbol.dispose]();
    expect(textsOf(await all.entries(id, { limit: 10 }))).toEqual(["first words", large]);
    expect(await all.prefix(id, "c")).toMatchObject({
      data: { process: "c", prefix: { version: 1, text: large } },
    });
  }
});

test("a log that was cut short behind its stored head is named and left as it is", async () => {
  const { open, stateFolder } = await bench();
  let id = "";
  let kept = "";
  let path = "";
  {
    await using all = open();
    using conversation = await all.create(agent);
    const { log } = conversation;
    id = log.id;
    await log.append([said("m1", "kept")]);
    path = join(stateFolder, "conversations", id, "log", "000001.ndjson");
    kept = await readFile(path, "utf8");
    await log.append([said("m2", "lost")]);
    await log.sync();
  }
  await writeFile(path, kept);
  await using all = open();
  await expect(all.open(id)).rejects.toMatchObject({ code: "StorageError" });
  expect(await readFile(path, "utf8")).toBe(kept);
});

test("a damaged log is named and left as it is, and the others can be used", async () => {
  const { open, stateFolder } = await bench();
  const ids: string[] = [];
  {
    await using all = open();
    for (const text of ["one", "two"]) {
      using conversation = await all.create(agent);
      await conversation.log.append([said("m1", text)]);
      ids.push(conversation.log.id);
    }
  }
  const path = join(stateFolder, "conversations", ids[0] ?? "", "log", "000001.ndjson");
  const changed = (await readFile(path, "utf8")).replace('"one"', '"ONE"');
  await writeFile(path, changed);
  await using all = open();
  await expect(all.open(ids[0] ?? "")).rejects.toMatchObject({
    code: "StorageError",
    facts: { firstBad: { seq: 2 } },
  });
  expect(await all.verify(ids[0] ?? "")).toMatchObject({ ok: false, records: 1, firstBad: { seq: 2 } });
  expect(await readFile(path, "utf8")).toBe(changed);
  expect(await all.verify(ids[1] ?? "")).toMatchObject({ ok: true, records: 2 });
  using other = await all.open(ids[1] ?? "");
  await other.log.append([said("m2", "more")]);
});

test("verify finds what changed in an open log, and in the origin of a fork", async () => {
  const { open, stateFolder } = await bench();
  await using all = open();
  let forkId = "";
  let id = "";
  {
    using origin = await all.create(agent);
    id = origin.log.id;
    await origin.log.append([channel, said("m1", "one")]);
    using fork = await all.fork(id);
    forkId = fork.log.id;
    await fork.log.append([said("m2", "in the fork")]);
    await fork.log.sync();
    expect(await all.verify(forkId)).toMatchObject({ ok: true, records: 5 });
    const path = join(stateFolder, "conversations", id, "log", "000001.ndjson");
    await writeFile(path, (await readFile(path, "utf8")).replace('"one"', '"ONE"'));
    expect(await all.verify(id)).toMatchObject({ ok: false, firstBad: { seq: 3 } });
  }
  expect(await all.verify(forkId)).toMatchObject({ ok: false, records: 2, firstBad: { seq: 3 } });
  await expect(all.verify(newId())).rejects.toMatchObject({ code: "NotFound" });
  const gone = new AbortController();
  gone.abort(new Error("gone"));
  await expect(all.verify(forkId, gone.signal)).rejects.toThrow("gone");
});

test("a fork has the entries up to its point, and what either writes later the other has not", async () => {
  const { open } = await bench();
  let forkId = "";
  let id = "";
  {
    await using all = open();
    using origin = await all.create(agent);
    id = origin.log.id;
    const entries = await origin.log.append([
      channel,
      said("m1", "one"),
      said("m2", "two"),
      said("m3", "three"),
    ]);
    await origin.log.storePrefix("c", { version: 1 });
    using fork = await all.fork(id, entries[2]?.seq);
    forkId = fork.log.id;
    await fork.log.append([said("m4", "in the fork")]);
    await origin.log.append([said("m5", "in the origin")]);
  }
  await using all = open();
  expect(textsOf(await all.entries(forkId, { limit: 10 }))).toEqual(["one", "two", "in the fork"]);
  expect(textsOf(await all.entries(forkId, { limit: 2, newest: true }))).toEqual(["two", "in the fork"]);
  expect(textsOf(await all.entries(id, { limit: 10 }))).toEqual(["one", "two", "three", "in the origin"]);
  expect(await all.count(forkId, { kinds: ["message"] })).toBe(3);
  expect(textOf((await all.entry(forkId, "m2")) as Entry)).toBe("two");
  expect(await all.entry(forkId, "m3")).toBeNull();
  // It was stored behind the point of the fork.
  expect(await all.prefix(forkId, "c")).toBeNull();
  using fork = await all.open(forkId);
  expect(fork.log.state).toMatchObject({ processes: [{ id: "c", state: "WaitingForInput" }], unreadAt: [] });
  const all3 = await all.entries(forkId, { limit: 10 });
  expect(new Set(all3.map(({ seq }) => seq)).size).toBe(all3.length);
  using second = await all.fork(forkId);
  expect(textsOf(await all.entries(second.log.id, { limit: 10 }))).toEqual(["one", "two", "in the fork"]);
});

test("race: nothing is said of a conversation at rest before the index has it, in case the kernel dies", async () => {
  const { open, holdBatches } = await bench();
  await using all = open();
  using opened = await all.create(agent);
  const { log } = opened;
  await log.append([said("m1", "one")]);
  const before = (await all.get(log.id)).state.seq;
  const release = holdBatches();
  const appended = log.append([said("m2", "two")]);
  while (log.state.seq === before) await nextTurn();
  expect((await all.get(log.id)).state.seq).toBe(before);
  release();
  await appended;
  expect((await all.get(log.id)).state.seq).toBe(log.state.seq);
});

test("an open conversation is described as it is at that time, without a query of the index", async () => {
  const { open, queries } = await bench();
  await using all = open();
  using opened = await all.create(agent);
  const { log } = opened;
  await log.append([channel, said("m1", "one")]);
  const before = queries.length;
  const row = await all.get(log.id);
  expect(queries.length).toBe(before);
  expect(row.state).toMatchObject({ seq: log.lastSeq, processes: [{ state: "Running" }] });
  const { seq } = row.state;
  await log.append([said("m2", "two")]);
  expect(row.state.seq).toBe(seq);
  expect((await all.get(log.id)).state.seq).toBeGreaterThan(seq);
});

test("a word is found in the conversations that are searched, and in no others", async () => {
  const { open } = await bench();
  await using all = open();
  using one = await all.create(agent);
  using two = await all.create(agent);
  await one.log.append([said("m1", "the harbour at dawn"), said("m2", "nothing")]);
  await two.log.append([said("m1", "a harbour elsewhere")]);
  const found = await all.search([one.log.id], "harbour", 10);
  expect(found.map(({ entry }) => [entry.conversation, entry.id])).toEqual([[one.log.id, "m1"]]);
  expect(await all.search([one.log.id, two.log.id], "harbour", 10)).toHaveLength(2);
});

test("more conversations than stay open can be used one after the other, and several users share one log", async () => {
  const { open } = await bench();
  await using all = open();
  const ids: string[] = [];
  for (let count = 0; count < 40; count++) {
    using conversation = await all.create(agent);
    await conversation.log.append([said("m1", `text ${count}`)]);
    ids.push(conversation.log.id);
  }
  await Promise.all(
    ids.flatMap((id) =>
      [1, 2].map(async (user) => {
        using conversation = await all.open(id);
        await conversation.log.append([said(`n${user}`, "more")]);
      }),
    ),
  );
  for (const id of ids) expect(await all.count(id, {})).toBe(3);
  expect(await all.list({ limit: 100 })).toHaveLength(40);
});

const rest: NewEntry = {
  ...common("p2"),
  origin: "person",
  kind: "process",
  value: { id: "c", kind: "channel", state: "WaitingForInput", started: "2026-11-26T08:00:00.000Z" },
};

const request: NewEntry = {
  ...common("r1"),
  origin: "workspace",
  kind: "request",
  attempt: 1,
  model: "lab/m",
  message: "a1",
  digest: `sha256:${"0".repeat(64)}`,
};

test("while a process works, appends are indexed together: at the timer, before a read, and when it rests", async () => {
  const { open, batches, clock } = await bench();
  await using all = open();
  using conversation = await all.create(agent);
  const { log } = conversation;
  await log.append([channel]);
  // A head of the log is one statement.
  const indexed = (): number => batches.filter((statements) => statements > 1).length;
  const begun = indexed();
  for (const id of ["m1", "m2", "m3"]) await log.append([said(id, id)]);
  expect(indexed()).toBe(begun);
  clock.advance(50);
  expect(indexed()).toBe(begun + 1);
  await log.append([said("m4", "m4")]);
  expect(textsOf(await all.entries(log.id, { kinds: ["message"], limit: 10 }))).toEqual([
    "m1",
    "m2",
    "m3",
    "m4",
  ]);
  const read = indexed();
  await log.append([said("m5", "m5")]);
  await log.append([request]);
  await log.append([rest]);
  expect(indexed()).toBe(read + 1);
  await log.append([said("m6", "m6")]);
  expect(indexed()).toBe(read + 2);
  // Somebody will read it, so it counts as work from here on.
  await log.append([channel]);
  expect(indexed()).toBe(read + 2);
});

test("after a death in between, the next kernel knows what was at work, and its opening completes the index", async () => {
  const { open, database } = await bench();
  const dying = open();
  const { log } = await dying.create(agent);
  await log.append([said("m1", "one")]);
  await log.append([channel]);
  await log.append([said("m2", "two")]);
  const indexed = "SELECT id FROM conversation_entries WHERE kind = 'message'";
  expect(await database.query(indexed)).toEqual([{ id: "m1" }]);
  // Its timer never fires.
  await using next = open();
  expect(await next.busy()).toEqual([log.id]);
  (await next.open(log.id))[Symbol.dispose]();
  expect(await database.query(indexed)).toEqual([{ id: "m1" }, { id: "m2" }]);
});

test("a picture of a small or a large message is found after the index was made again, in a fork too, until both are deleted", async () => {
  const { open, database, stateFolder } = await bench();
  const pictures = [Buffer.from("one picture"), Buffer.from("another picture")];
  const withPicture = (entry: NewEntry, hash: Hash, bytes: number): NewEntry =>
    entry.kind !== "message"
      ? entry
      : {
          ...entry,
          parts: [...entry.parts, { type: "image", media_type: "image/png", object: hash, bytes }],
        };
  let id = "";
  const hashes: Hash[] = [];
  {
    await using all = open();
    using used = await all.create(agent);
    const { log } = used;
    id = log.id;
    await log.append([channel]);
    for (const [index, text] of ["short", "z".repeat(100_000)].entries()) {
      using kept = await log.keepPicture(pictures[index] ?? Buffer.alloc(0));
      hashes.push(kept.hash);
      await log.append([withPicture(said(`m${index}`, text), kept.hash, kept.bytes)], [kept]);
    }
    // A kernel that dies before the entry leaves one that nothing names.
    (await log.keepPicture(Buffer.from("unnamed")))[Symbol.dispose]();
    await log.sync();
  }
  await database.batch([
    { sql: "DELETE FROM conversation_entries", params: [] },
    { sql: "UPDATE conversation_heads SET checkpoint = NULL", params: [] },
  ]);
  const objects = join(stateFolder, "conversations", id, "objects");
  const stored = async (): Promise<number> => (await readdir(objects, { recursive: true })).length;
  // Two pictures and a long text, each in a folder, and what nothing names.
  expect(await stored()).toBe(8);
  await using all = open();
  using used = await all.open(id);
  expect(await stored()).toBeLessThan(8);
  const entries = await all.entries(id, { kinds: ["message"], limit: 10 });
  expect(textsOf(entries)).toEqual(["short", "z".repeat(100_000)]);
  expect(entries.map((entry) => (entry as EntryOf<"message">).parts[1])).toMatchObject(
    hashes.map((object) => ({ type: "image", object })),
  );
  expect((await used.log.verify()).ok).toBe(true);
  const fork = (await all.fork(id)).log;
  const found = (of: string): Promise<(string | null)[]> =>
    Promise.all(hashes.map(async (hash) => (await all.picture(of, hash))?.toString() ?? null));
  const texts = pictures.map(String);
  expect([await found(id), await found(fork.id)]).toEqual([texts, texts]);

  used[Symbol.dispose]();
  expect(await all.delete(id)).toEqual({ isKeptForForks: true });
  expect(await found(fork.id)).toEqual(texts);
  await all.delete(fork.id);
  await expect(readdir(objects)).rejects.toThrow("ENOENT");
});

test("a picture that is gone or damaged is none, and verify names its entry", async () => {
  const { open, stateFolder } = await bench();
  await using all = open();
  using used = await all.create(agent);
  const { log } = used;
  await log.append([channel]);
  using kept = await log.keepPicture(Buffer.from("a picture"));
  const part = { type: "image" as const, media_type: "image/png", object: kept.hash, bytes: kept.bytes };
  await log.append([{ ...said("m1", "look"), kind: "message", role: "user", parts: [part] }], [kept]);
  const hex = kept.hash.slice("sha256:".length);
  const path = join(stateFolder, "conversations", log.id, "objects", hex.slice(0, 2), hex.slice(2));
  await writeFile(path, "a pictüre");
  expect(await all.picture(log.id, kept.hash)).toBeNull();
  expect(await log.verify()).toMatchObject({ ok: false, firstBad: { seq: 3 } });
  expect(await all.picture(log.id, `sha256:${"0".repeat(64)}`)).toBeNull();
});

test.each<[string, (next: Conversations, id: string) => Promise<unknown>]>([
  ["entries", async (next, id) => textsOf(await next.entries(id, { kinds: ["message"], limit: 10 }))],
  [
    "a search",
    async (next, id) => (await next.search([id], "two", 10)).map(({ entry }) => textsOf([entry])[0]),
  ],
  ["the list", async (next) => (await next.list({ limit: 10 })).map(({ state }) => state.seq)],
  ["what is known of one", async (next, id) => (await next.get(id)).state.seq],
])(
  "after a death %s has what the index had not got, without anybody opening the log",
  async (_what, read) => {
    const { open } = await bench();
    const dying = open();
    const { log } = await dying.create(agent);
    await log.append([channel]);
    await log.append([said("m2", "two")]);
    const { seq } = log.state;
    await using next = open();
    const found = await read(next, log.id);
    expect([["two"], [seq], seq]).toContainEqual(found);
  },
);

test("an entry of a conversation at rest is in the index before its append resolves or emits it", async () => {
  const { stateFolder, database, clock } = await bench();
  let held = Promise.withResolvers<void>();
  let batched = Promise.withResolvers<void>();
  held.resolve();
  await using all = new Conversations({
    stateFolder,
    database: {
      ...database,
      batch: async (statements, options) => {
        batched.resolve();
        await held.promise;
        return await database.batch(statements, options);
      },
    },
    clock,
    log: silentLog,
    disk: new DiskTimer(clock),
    maxBytes: () => 64 * 1024 * 1024,
  });
  using conversation = await all.create(agent);
  const { log } = conversation;
  await log.append([rest]);
  const told: string[] = [];
  log.appended.on((entries) => told.push(...entries.map(({ id }) => id)));
  held = Promise.withResolvers<void>();
  batched = Promise.withResolvers<void>();
  const appending = log.append([said("m1", "one")]);
  await batched.promise;
  for (let turns = 0; turns < 10; turns++) await nextTurn();
  expect(told).toEqual([]);
  held.resolve();
  await appending;
  expect(told).toEqual(["m1"]);
});

test("the next kernel finds a conversation whose channel has not read something, whatever rests", async () => {
  const { open } = await bench();
  await using all = open();
  const worker: NewEntry = {
    ...common("p3"),
    process: "w",
    origin: "workspace",
    kind: "process",
    value: { id: "w", kind: "worker", state: "Done", parent: "c", started: "2026-11-26T08:00:00.000Z" },
  };
  const conclusion: NewEntry = {
    ...common("c1"),
    process: "w",
    origin: "model",
    kind: "conclusion",
    text: "found",
  };
  const decided: NewEntry = {
    ...common("d1"),
    origin: "person",
    kind: "action",
    ref: "x",
    state: "Committed",
  };
  for (const news of [[said("m1", "hello")], [conclusion, worker], [decided]]) {
    using conversation = await all.create(agent);
    const { log } = conversation;
    await log.append([rest]);
    expect(await all.busy()).not.toContain(log.id);
    await log.append(news);
    expect(await all.busy()).toContain(log.id);
    await log.append([request, said("a1", "so", "assistant"), rest]);
    expect(await all.busy()).not.toContain(log.id);
  }
});
