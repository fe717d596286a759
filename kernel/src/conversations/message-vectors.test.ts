import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { DiskTimer } from "../journal/disk-timer.ts";
import { systemClock } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { until } from "../../../test/support/until.ts";
import { Conversations } from "./conversations.ts";
import type { MessageQuestion } from "./message-search.ts";
import { conversationMigrations } from "./migrations.ts";
import type { NewEntry } from "./records.ts";
import { SourceRows } from "./source-rows.ts";
import { MessageVectors, type TextEmbedder } from "./vectors/message-vectors.ts";
import { vectorFile } from "./vectors/vector-file.ts";

const agent = "test.steward";

/** Words that mean the same, each list a direction of its own. */
const meanings = [
  ["boat", "ship", "vessel", "sail"],
  ["doctor", "physician", "clinic", "ill"],
  ["money", "pay", "invoice", "cost"],
  ["dog", "puppy", "spaniel"],
  ["holiday", "vacation", "beach"],
];

/** An embedder that knows these meanings. Other words are alike only if they are the same. */
function meaningful(name = "meanings/1"): TextEmbedder & { readonly embedded: string[]; fails: boolean } {
  const vectorOf = (text: string): Float32Array => {
    const vector = new Float32Array(64);
    for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
      const known = meanings.findIndex((list) => list.includes(word));
      let place = known;
      if (known < 0) {
        let hash = 7;
        for (const letter of word) hash = (hash * 31 + letter.charCodeAt(0)) % 50;
        place = meanings.length + hash;
      }
      vector[place] = (vector[place] ?? 0) + (known < 0 ? 0.3 : 2);
    }
    return vector;
  };
  return {
    name,
    knows: "meanings",
    embedded: [],
    fails: false,
    async items(texts) {
      if (this.fails) throw new Error("It does not answer.");
      this.embedded.push(...texts);
      return texts.map(vectorOf);
    },
    query: async (text) => vectorOf(text),
  };
}

interface Bench {
  readonly stateFolder: string;
  readonly ledger: Database;
  /** How often the vectors' database was opened. */
  readonly openings: number;
  embedder: TextEmbedder | null;
  embedderOf(agent: string): TextEmbedder | null;
  maxVectors: number;
  open(clock?: ManualClock): Promise<{ readonly all: Conversations; readonly vectors: MessageVectors }>;
}

async function bench(): Promise<Bench> {
  const stateFolder = await temporaryFolder();
  const path = join(stateFolder, "ledger.sqlite");
  const ledger = await openNearDatabase({ path, migrations: conversationMigrations, log: silentLog });
  onTestFinished(() => ledger[Symbol.asyncDispose]());
  let openings = 0;
  const made: Bench = {
    stateFolder,
    ledger,
    get openings() {
      return openings;
    },
    embedder: meaningful(),
    embedderOf: () => made.embedder,
    maxVectors: 1_000,
    async open(clock) {
      const file = vectorFile(stateFolder, silentLog, (options) => {
        openings++;
        return openNearDatabase(options);
      });
      const vectors = new MessageVectors({
        ...file,
        sources: new SourceRows(ledger),
        embedderOf: async (of) => made.embedderOf(of),
        maxVectors: () => made.maxVectors,
        clock: clock ?? systemClock,
        log: silentLog,
      });
      const all = new Conversations({
        stateFolder,
        database: ledger,
        clock: systemClock,
        log: silentLog,
        disk: new DiskTimer(systemClock),
        maxBytes: () => 64 * 1024 * 1024,
        vectors,
      });
      return { all, vectors };
    },
  };
  return made;
}

let count = 0;
const said = (text: string, by: "user" | "assistant" = "user"): NewEntry => ({
  id: `m${String(++count).padStart(6, "0")}`,
  process: "c",
  created: "2026-11-26T08:00:00.000Z",
  turn: "m1",
  origin: by === "user" ? "person" : "model",
  kind: "message",
  role: by,
  parts: [{ type: "text", text }],
});
const texts = [
  "The ship leaves at noon.",
  "My physician has no time before Friday.",
  "The invoice is on the desk.",
  "The spaniel ate the cake.",
  "We spend our vacation in Brittany.",
  "The roof needs new tiles.",
];
const asking = (text: string, mode: MessageQuestion["mode"] = "auto"): MessageQuestion => ({
  agent,
  text,
  mode,
  limit: 3,
});
const textsIn = (found: readonly { readonly entry: unknown }[]): string[] =>
  found.map(({ entry }) => (entry as { parts: { text: string }[] }).parts[0]?.text ?? "");

test("a message is found by what it means, and by its words without an embedder", async () => {
  const made = await bench();
  const { all, vectors } = await made.open();
  await using _all = all;
  using one = await all.create(agent);
  await one.log.append(texts.map((text) => said(text)));
  const { id } = one.log;
  expect(textsIn(await all.answering([id], asking("boat")))).toEqual([]);
  await vectors.caughtUp();
  expect(textsIn(await all.answering([id], asking("When does my boat sail?")))[0]).toBe(texts[0]);
  expect(textsIn(await all.answering([id], asking("puppy", "vector")))[0]).toBe(texts[3]);
  expect(textsIn(await all.answering([id], asking("puppy", "text")))).toEqual([]);
  made.embedder = null;
  expect(textsIn(await all.answering([id], asking("the spaniel")))[0]).toBe(texts[3]);
  await expect(all.answering([id], asking("puppy", "vector"))).rejects.toMatchObject({
    code: "VectorSearchNotConfigured",
  });
});

test("nothing is opened before a conversation grows or is searched, and nothing without an embedder", async () => {
  const made = await bench();
  made.embedder = null;
  const { all, vectors } = await made.open();
  await using _all = all;
  using one = await all.create(agent);
  await one.log.append([said("hello")]);
  await all.answering([one.log.id], asking("hello"));
  await all.delete((await all.create(agent)).log.id);
  expect(made.openings).toBe(0);
  await vectors.caughtUp();
  made.embedder = meaningful();
  await using next = (await made.open(new ManualClock())).all;
  await next.list({ limit: 10 });
  expect(made.openings).toBeLessThanOrEqual(1);
});

test("fused search finds at least what words find, in conversations and their forks", async () => {
  const made = await bench();
  const { all, vectors } = await made.open();
  await using _all = all;
  using one = await all.create(agent);
  const fillers = Array.from({ length: 120 }, (_, n) => `Note ${n}: the window of room ${n} is closed.`);
  await one.log.append([...texts, ...fillers].map((text) => said(text)));
  using fork = await all.fork(one.log.id);
  await fork.log.append([said("A sloop is a small vessel.")]);
  await vectors.caughtUp();
  const questions: readonly (readonly [question: string, answer: string])[] = [
    ["the ship at noon", texts[0] ?? ""],
    ["invoice", texts[2] ?? ""],
    ["spaniel cake", texts[3] ?? ""],
    ["new tiles", texts[5] ?? ""],
    ["room 77", "Note 77: the window of room 77 is closed."],
    ["what does it cost", texts[2] ?? ""],
    ["is the doctor in", texts[1] ?? ""],
    ["the holiday", texts[4] ?? ""],
    ["puppy", texts[3] ?? ""],
    ["sloop", "A sloop is a small vessel."],
  ];
  const recall = async (mode: MessageQuestion["mode"]): Promise<number> => {
    let hits = 0;
    for (const [question, answer] of questions)
      if (textsIn(await all.answering([fork.log.id, one.log.id], asking(question, mode))).includes(answer))
        hits++;
    return hits / questions.length;
  };
  const [worded, both] = [await recall("text"), await recall("hybrid")];
  expect(both / worded).toBeGreaterThanOrEqual(1);
  expect(both).toBeGreaterThan(worded);
  // A fork's entries are found once, with those of its origin.
  const found = await all.answering([fork.log.id, one.log.id], { ...asking("ship"), limit: 50 });
  expect(new Set(found.map(({ entry }) => `${entry.conversation} ${entry.seq}`)).size).toBe(found.length);
  const inOrigin = textsIn(await all.answering([one.log.id], { ...asking("sloop"), limit: 50 }));
  expect(inOrigin).not.toContain("A sloop is a small vessel.");
});

test("the next kernel continues where the vectors end, and embeds nothing twice", async () => {
  const made = await bench();
  let id = "";
  const embedder = meaningful();
  made.embedder = embedder;
  {
    const { all, vectors } = await made.open();
    await using _all = all;
    using one = await all.create(agent);
    id = one.log.id;
    await one.log.append(texts.slice(0, 2).map((text) => said(text)));
    await vectors.caughtUp();
    // Nobody embeds these before the kernel ends.
    embedder.fails = true;
    await one.log.append(texts.slice(2).map((text) => said(text)));
    await vectors.caughtUp();
  }
  embedder.fails = false;
  const { all, vectors } = await made.open();
  await using _all = all;
  await vectors.caughtUp();
  expect(embedder.embedded).toEqual(texts);
  expect(textsIn(await all.answering([id], asking("vacation", "vector")))[0]).toBe(texts[4]);
  // Another embedder's vectors cannot be compared, so all are made again.
  const other = meaningful("meanings/2");
  made.embedder = other;
  await using next = (await made.open()).all;
  expect(textsIn(await next.answering([id], asking("vacation")))[0]).toBe(texts[4]);
  expect(textsIn(await next.answering([id], asking("vacation", "text")))).toHaveLength(1);
});

test("a message that comes while the one before it is embedded gets its vectors without a third", async () => {
  const made = await bench();
  const embedder = meaningful();
  made.embedder = embedder;
  const { all, vectors } = await made.open();
  await using _all = all;
  using one = await all.create(agent);
  await vectors.caughtUp();
  const { items } = embedder;
  embedder.items = async function (some, signal) {
    embedder.items = items;
    const made = await items.call(this, some, signal);
    await one.log.append([said("It came in between.")]);
    return made;
  };
  await one.log.append([said("It came first.")]);
  await vectors.caughtUp();
  expect(embedder.embedded).toEqual(["It came first.", "It came in between."]);
});

test("vectors of a deleted conversation, of a redacted entry and of what is too much are gone", async () => {
  const made = await bench();
  const { all, vectors } = await made.open();
  await using _all = all;
  const [one, two] = [await all.create(agent), await all.create(agent)];
  const [entry] = await one.log.append(texts.map((text) => said(text)));
  await two.log.append([said("A vessel in the bay.")]);
  await vectors.caughtUp();
  const near = async (question: string): Promise<number> =>
    (
      await vectors.near(
        agent,
        [one, two].map(({ log }) => ({ conversation: log.id, through: 1_000 })),
        question,
        10,
      )
    )?.entries.length ?? 0;
  expect(await near("boat")).toBe(2);
  await vectors.forget(one.log.id, [entry?.id ?? ""]);
  expect(await near("boat")).toBe(1);
  two[Symbol.dispose]();
  await all.delete(two.log.id);
  expect(await near("boat")).toBe(0);
  expect(await near("puppy")).toBe(1);
  made.maxVectors = 100;
  await one.log.append(Array.from({ length: 200 }, (_, n) => said(`The room ${n} is empty.`)));
  await one.log.append([said("The dog sleeps.")]);
  await vectors.caughtUp();
  expect(await near("physician")).toBe(0);
  expect(await near("puppy")).toBe(1);
  one[Symbol.dispose]();
});

test("a conversation that is deleted while its texts are embedded gets no vectors, nor one whose kernel died", async () => {
  const made = await bench();
  const embedder = meaningful();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: goes, resolve: go } = Promise.withResolvers<void>();
  made.embedder = {
    ...embedder,
    items: async (list, signal) => {
      begin();
      await goes;
      return await embedder.items(list, signal);
    },
  };
  const { all, vectors } = await made.open();
  await using _all = all;
  const one = await all.create(agent);
  const { id } = one.log;
  await one.log.append(texts.map((text) => said(text)));
  one[Symbol.dispose]();
  const done = vectors.caughtUp();
  await begun;
  await all.delete(id);
  go();
  await done;
  const near = await vectors.near(agent, [{ conversation: id, through: 1_000 }], "boat", 10);
  expect(near?.entries).toEqual([]);

  made.embedder = embedder;
  const two = await all.create(agent);
  await two.log.append(texts.map((text) => said(text)));
  await vectors.caughtUp();
  two[Symbol.dispose]();
  // As if a kernel had died after the ledger lost it.
  await made.ledger.batch([{ sql: "DELETE FROM conversations WHERE id = ?", params: [two.log.id] }]);
  await all[Symbol.asyncDispose]();
  const next = await made.open();
  await using _next = next.all;
  await next.vectors.caughtUp();
  const again = await next.vectors.near(agent, [{ conversation: two.log.id, through: 1_000 }], "boat", 10);
  expect(again?.entries).toEqual([]);
});

test("an origin that is deleted keeps the vectors that its fork has, and an end waits for no embedder", async () => {
  const made = await bench();
  const { all, vectors } = await made.open();
  using one = await all.create(agent);
  const entries = await one.log.append(texts.map((text) => said(text)));
  const at = entries[3]?.seq ?? 0;
  using fork = await all.fork(one.log.id, at);
  await vectors.caughtUp();
  one[Symbol.dispose]();
  await all.delete(one.log.id);
  const near = (question: string) => all.answering([fork.log.id], asking(question, "vector"));
  expect(textsIn(await near("puppy"))[0]).toBe(texts[3]);
  const beyond = [{ conversation: one.log.id, through: 1_000 }];
  expect((await vectors.near(agent, beyond, "vacation", 10))?.entries).toEqual([]);
  await vectors.caughtUp();
  expect(textsIn(await near("puppy"))[0]).toBe(texts[3]);

  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const never = new Promise<never>(() => undefined);
  made.embedder = { ...meaningful("meanings/2"), items: () => (begin(), never) };
  await fork.log.append([said("One more.")]);
  void vectors.caughtUp();
  await begun;
  fork[Symbol.dispose]();
  await all[Symbol.asyncDispose]();
});

test("a damaged file of vectors is made again", async () => {
  const made = await bench();
  let id = "";
  {
    const { all, vectors } = await made.open();
    await using _all = all;
    using one = await all.create(agent);
    id = one.log.id;
    await one.log.append(texts.map((text) => said(text)));
    await vectors.caughtUp();
  }
  await writeFile(join(made.stateFolder, "message-vectors.sqlite"), "this is no database");
  const { all, vectors } = await made.open();
  await using _all = all;
  await vectors.caughtUp();
  expect(textsIn(await all.answering([id], asking("puppy", "vector")))[0]).toBe(texts[3]);
});

test("another embedder makes all vectors again at once, and what it has not made yet is found by words", async () => {
  const made = await bench();
  const before = meaningful();
  made.embedder = before;
  const clock = new ManualClock();
  const { all, vectors } = await made.open(clock);
  await using _all = all;
  using one = await all.create(agent);
  using two = await all.create(agent);
  await one.log.append(texts.map((text) => said(text)));
  await two.log.append([said("A vessel in the bay.")]);
  const ids = [one.log.id, two.log.id];
  const caughtUp = async (): Promise<void> => {
    const done = vectors.caughtUp();
    let isDone = false;
    void done.then(() => (isDone = true));
    await until("the vectors", () => {
      clock.advance(1_000);
      return isDone;
    });
  };
  await caughtUp();
  expect(textsIn(await all.answering(ids, asking("puppy", "vector")))[0]).toBe(texts[3]);
  const next = meaningful("meanings/2");
  made.embedder = next;
  // Vectors of two embedders are never compared.
  expect(await all.answering(ids, asking("puppy", "vector"))).toEqual([]);
  expect(textsIn(await all.answering(ids, asking("spaniel")))[0]).toBe(texts[3]);
  vectors.embedderChanged();
  // Nobody says or asks anything more.
  await until("the new vectors", () => {
    clock.advance(1_000);
    return next.embedded.length === texts.length + 1;
  });
  await caughtUp();
  expect(textsIn(await all.answering(ids, asking("puppy", "vector")))[0]).toBe(texts[3]);
  expect(before.embedded).toHaveLength(texts.length + 1);
  expect(next.embedded).toHaveLength(texts.length + 1);
});

test("an embedder that changes while it embeds a conversation leaves no vectors of both in it", async () => {
  const made = await bench();
  const before = meaningful();
  const next = meaningful("meanings/2");
  made.embedder = before;
  const { all, vectors } = await made.open();
  await using _all = all;
  using one = await all.create(agent);
  const { items } = before;
  before.items = async function (some, signal) {
    made.embedder = next;
    vectors.embedderChanged();
    return await items.call(this, some, signal);
  };
  const many = Array.from({ length: 40 }, (_, n) => `The room ${n} is empty.`);
  await one.log.append([...texts, ...many].map((text) => said(text)));
  await vectors.caughtUp();
  // A part was made by the first one; the next one made all.
  expect(before.embedded.length).toBeLessThan(many.length);
  expect(new Set(next.embedded).size).toBe(texts.length + many.length);
  expect(textsIn(await all.answering([one.log.id], asking("puppy", "vector")))[0]).toBe(texts[3]);
});

test("an embedder that does not answer holds up no other agent's conversations", async () => {
  const made = await bench();
  const [stuck, working] = [meaningful("stuck"), meaningful()];
  stuck.fails = true;
  made.embedder = working;
  made.embedderOf = (of) => (of === "test.other" ? stuck : working);
  const { all, vectors } = await made.open();
  await using _all = all;
  using one = await all.create(agent);
  // The newest is looked at first.
  using other = await all.create("test.other");
  await one.log.append([said("The ship leaves at noon.")]);
  await other.log.append([said("The dog sleeps.")]);
  await vectors.caughtUp();
  expect(working.embedded).toEqual(["The ship leaves at noon."]);
  stuck.fails = false;
  vectors.embedderChanged();
  await vectors.caughtUp();
  expect(stuck.embedded).toEqual(["The dog sleeps."]);
});

test("nothing that is removed is embedded any more, nor sent to a service, though it was read before", async () => {
  const made = await bench();
  const embedder = meaningful();
  made.embedder = embedder;
  const { all, vectors } = await made.open();
  await using _all = all;
  using one = await all.create(agent);
  const long = `${"The harbour is closed today. ".repeat(110)} The secret is grapefruit.`;
  await one.log.append(Array.from({ length: 16 }, () => said(long)));
  const { items } = embedder;
  let calls = 0;
  embedder.items = async function (some, signal) {
    if (calls++ > 0) return await items.call(this, some, signal);
    await all.redactions.redact([one.log.id], {
      entry: (entry) =>
        entry.kind === "message" && JSON.stringify(entry).includes("grapefruit")
          ? { ...entry, parts: [{ type: "text", text: "It is gone." }] }
          : null,
      context: () => null,
    });
    return await items.call(this, some.slice(0, 0), signal);
  };
  await vectors.caughtUp();
  expect(calls).toBeGreaterThan(1);
  expect(new Set(embedder.embedded)).toEqual(new Set(["It is gone."]));
});
