import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { isAlive, until } from "../../../test/support/until.ts";
import { canonicalJson } from "../base/json.ts";
import { startChildProcess } from "../platform/children/child-process.ts";
import { sealDatabase } from "../platform/database/database-seal.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import type { ChainEnd, RecordKind } from "../memory-contract/records.ts";
import { storeBounds } from "./bounds.ts";
import type { StoreMemory } from "../memory-contract/store-port.ts";
import { beginningMs, TestJournal } from "./testing/test-journal.ts";
import { openDuck } from "./projection/duck.ts";
import { removeText } from "./projection/testing/text-file.ts";
import { eventsOf, rebuiltOf, testStore, type TestStore } from "./testing/test-store.ts";
import type { RecordInput } from "../journal/record.ts";
import { Engines } from "./vectors/engines.ts";

const storageError = expect.objectContaining({ code: "StorageError" });
const nowMs = beginningMs;
const hasFaiss = await new Engines().isAvailable("faiss");

function pidOf(store: { readonly pid: number | null }): number {
  if (store.pid === null) throw new Error("No store host runs.");
  return store.pid;
}

describe("the host process", () => {
  test("is not started by growth or by a memory that is never asked", async () => {
    const { store, journal, stateFolder } = await testStore();
    journal.appendEvents(3);
    store.grown(journal.memory);
    await store[Symbol.asyncDispose]();
    expect(store.pid).toBeNull();
    expect(existsSync(join(stateFolder, "store"))).toBe(false);
  });

  test("starts once with the first of several requests, and ends with the store", async () => {
    const { store, journal } = await testStore();
    journal.appendEvents(10);
    expect(await Promise.all([1, 2, 3].map(() => eventsOf(store, journal)))).toEqual([10, 10, 10]);
    const pid = pidOf(store);
    expect(isAlive(pid)).toBe(true);
    await store[Symbol.asyncDispose]();
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(join(journal.folder, "temporal.duckdb.wal"))).toBe(false);
    await expect(eventsOf(store, journal)).rejects.toThrow(storageError);
  });

  test("race: a request that is cancelled while it waits is rejected at once, and the next ones are answered", async () => {
    const { store, journal } = await testStore();
    journal.appendEvents(10);
    const first = eventsOf(store, journal);
    const aborter = new AbortController();
    const rebuilding = store.request("rebuild", journal.memory, {}, aborter.signal);
    aborter.abort(new Error("enough"));
    await expect(rebuilding).rejects.toThrow("enough");
    expect([await first, await eventsOf(store, journal)]).toEqual([10, 10]);
    const late = store.request("stats", journal.memory, {}, AbortSignal.abort(new Error("before")));
    await expect(late).rejects.toThrow("before");
  });

  test("of another kernel waits until the one that holds the files has ended", async () => {
    const { store, journal, stateFolder } = await testStore();
    journal.appendEvents(10);
    await eventsOf(store, journal);
    const second = await testStore(stateFolder);
    let isAnswered = false;
    const waiting = eventsOf(second.store, journal).finally(() => (isAnswered = true));
    for (let n = 0; n < 50; n++) await eventsOf(store, journal);
    expect(isAnswered).toBe(false);
    await store[Symbol.asyncDispose]();
    expect(await waiting).toBe(10);
  });

  test("ends when the pipe closes without a message", async () => {
    const child = await startChildProcess({
      entry: new URL("./host/host-process.ts", import.meta.url),
      readable: ["/"],
      writable: ["/"],
      nativeCode: true,
      workers: false,
      arguments: [await temporaryFolder()],
    });
    await new Promise<void>((resolve) => {
      child.channel.chunks.on(() => resolve());
    });
    child.channel.close();
    expect(await child.exited).toBe("ended with exit code 0");
  });

  test("that cannot start gives an error with the reason, and the next request tries again", async () => {
    const { stateFolder, store, journal } = await testStore();
    journal.appendEvents(1);
    mkdirSync(join(stateFolder, "store", "host.lock"), { recursive: true });
    await expect(eventsOf(store, journal)).rejects.toThrow(/could not be started/);
    rmSync(join(stateFolder, "store"), { recursive: true });
    expect(await eventsOf(store, journal)).toBe(1);
  });
});

describe("a query sees everything that was acknowledged before", () => {
  test("event by event, while other queries run", async () => {
    const { store, journal } = await testStore();
    for (let round = 1; round <= 20; round++) {
      journal.appendEvents(5, (n) => ({ data: { words: `beach number${n}` } }));
      const { memory } = journal;
      const [count, page] = await Promise.all([
        eventsOf(store, journal),
        store.request("temporal.query", memory, {
          query: { text: { match: `beach number${journal.end.seq}` } },
          nowMs,
        }),
        store.request("project", memory, {}),
      ]);
      expect(count).toBe(round * 5);
      expect(page).toMatchObject({ total: 1, items: [{ id: `event-${journal.end.seq}` }] });
    }
  });

  test("also if it was projected in the background, after a hint", async () => {
    const { store, journal } = await testStore();
    journal.appendEvents(1);
    await eventsOf(store, journal);
    const { memory: before } = journal;
    journal.appendEvents(20_000);
    store.grown(journal.memory);
    // An older end than the projected one does not mean another journal.
    await until("the hint was followed", async () => {
      const { projected } = await store.request("stats", before, {});
      return projected === 20_001;
    });
    expect(await eventsOf(store, journal)).toBe(20_001);
  });

  test("stats: position, counts, and the first and last time", async () => {
    const { store, journal } = await testStore();
    journal.appendEvents(10);
    journal.append({ operation: "delete", kind: "temporal", id: "event-10", data: "{}" });
    const { memory } = journal;
    expect(await store.request("stats", memory, {})).toMatchObject({
      projected: 11,
      temporal: { events: 9, oldest: "2026-03-01T00:00:01.000Z", newest: "2026-03-01T00:00:09.000Z" },
      bytes: expect.toSatisfy((bytes: number) => bytes > 0),
    });
  });

  test("knowledge too: by similarity, by relations, in a search over all, page by page, and after a crash", async () => {
    const { store, journal } = await testStore();
    const { memory: nothing } = journal;
    expect(await store.request("knowledge.query", nothing, { query: {}, nowMs })).toEqual({ items: [] });
    const add = (id: string, text: string, more: object = {}): RecordInput<RecordKind> => ({
      operation: "store",
      kind: "knowledge",
      id,
      data: canonicalJson({ variant: "Fact", data: { about: id }, text, ...more }),
    });
    journal.append(
      add("beach", "The family likes to swim at the sandy beach in summer"),
      add("tax", "Tax papers are due at the end of the year"),
      add("sand", "Sand castles", { relations: [{ to: "beach", relation: "PartOf" }] }),
    );
    journal.appendEvents(1, () => ({ data: { words: "a day at the beach" } }));
    const { memory } = journal;
    const ask = async (): Promise<unknown> => {
      const query = { similar_to: "swim at the beach", top_k: 1 };
      const { items } = await store.request("knowledge.query", memory, { query, nowMs });
      const related = await store.request("knowledge.query", memory, {
        query: { related_to: { id: "beach" } },
        nowMs,
      });
      const found = await store.request("search", memory, { query: { text: "beach" }, nowMs });
      const existing = await store.request("knowledge.existing", memory, { ids: ["tax", "none"] });
      const { nearest } = await store.request("knowledge.nearest", memory, {
        items: [{ id: "new", variant: "Fact" }],
        minSimilarity: 0.9,
      });
      return {
        similar: items.map(({ id }) => id),
        related: related.items.map(({ id }) => id),
        found: [
          found.items[0]?.id,
          ...found.items.filter(({ kind }) => kind === "temporal").map(({ id }) => id),
        ],
        existing,
        nearest,
      };
    };
    const answers = {
      similar: ["beach"],
      related: ["sand"],
      found: ["beach", "event-4"],
      existing: { ids: ["tax"] },
      nearest: [null],
    };
    expect(await ask()).toEqual(answers);
    const page = await store.request("vectors.page", memory, {
      afterId: null,
      limit: 2,
      changedBeforeMs: Date.now(),
    });
    expect(page).toMatchObject({ dimensions: 64, items: [{ id: "beach" }, { id: "sand" }], isLast: false });
    expect(await store.request("maintain", memory, { nowMs, prune: null })).toEqual({
      changes: [],
      isUnfinished: false,
    });
    expect(await store.request("stats", memory, {})).toMatchObject({
      knowledge: { items: 3, relations: 1 },
      vectors: { engine: "exact", dimensions: 64, count: 3, pending: 0 },
    });
    process.kill(pidOf(store), "SIGKILL");
    expect(await ask()).toEqual(answers);
  });

  test("an invalid query fails alone, and the host keeps running", async () => {
    const { store, journal } = await testStore();
    journal.appendEvents(1);
    await eventsOf(store, journal);
    const pid = pidOf(store);
    const bad = store.request("temporal.query", journal.memory, { query: { limit: -1 }, nowMs });
    await expect(bad).rejects.toThrow(expect.objectContaining({ code: "InvalidParams" }));
    expect(pidOf(store)).toBe(pid);
  });
});

describe("many memories", () => {
  test("a closed memory releases its files, and is reopened by the next query", async () => {
    const { store, journal } = await testStore();
    journal.appendEvents(5);
    await eventsOf(store, journal);
    await store.request("close", journal.memory, {});
    expect(existsSync(join(journal.folder, "text.sqlite.sum"))).toBe(true);
    await store.request("close", journal.memory, {});
    expect(await eventsOf(store, journal)).toBe(5);
  });

  test("a journal outside the state folder is read by a host that has access; open requests are answered", async () => {
    const { store, journal, notices } = await testStore();
    const foreign = new TestJournal(await temporaryFolder());
    foreign.appendEvents(7);
    journal.appendEvents(3);
    const imported = { ...journal.memory, key: "import/x", folder: join(journal.folder, "imported") };
    await eventsOf(store, journal);
    const pid = pidOf(store);
    const asked = [
      eventsOf(store, journal),
      store.request(
        "temporal.count",
        { ...imported, journalFolder: foreign.memory.journalFolder, end: foreign.end },
        { query: {}, nowMs },
      ),
      eventsOf(store, journal),
    ];
    expect(await Promise.all(asked)).toEqual([3, { count: 7 }, 3]);
    expect(pidOf(store)).not.toBe(pid);
    expect(rebuiltOf(notices)).toEqual([]);
  });
});

describe("a vector library that leaks memory", () => {
  test.skipIf(!hasFaiss)(
    "another host takes over between queries, repeatedly; each query is answered",
    async () => {
      const { store, journal, notices, logged } = await testStore(undefined, { maxLeakedBytes: 2_000 });
      // With fewer vectors, the graph is not used.
      for (let n = 0; n < 900; n++) {
        journal.append({
          operation: "store",
          kind: "knowledge",
          id: `item-${n}`,
          data: canonicalJson({ variant: "Fact", data: {}, text: `the thing with number ${n}` }),
        });
      }
      const memory: StoreMemory = {
        ...journal.memory,
        settings: { ...journal.memory.settings, vectors: "faiss" },
      };
      const nearest = async (n: number): Promise<string | undefined> => {
        const query = { similar_to: `the thing with number ${n}`, top_k: 1 };
        return (await store.request("knowledge.query", memory, { query, nowMs })).items[0]?.id;
      };
      await store.request("project", memory, {});
      await until(
        "faiss serves",
        async () => (await store.request("stats", memory, {})).vectors.engine === "faiss",
      );
      const pids = new Set<number>();
      for (let turn = 0; turn < 4; turn++) {
        const all = Array.from({ length: 20 }, (_, n) => n);
        expect(await Promise.all(all.map(nearest))).toEqual(all.map((n) => `item-${n}`));
        await until("a host is there", () => store.pid !== null);
        pids.add(pidOf(store));
      }
      expect(pids.size).toBeGreaterThan(1);
      expect(rebuiltOf(notices)).toEqual([]);
      expect(logged.filter(({ level }) => level !== "debug")).toEqual([]);
    },
  );
});

test("a full text of version 1, which was closed cleanly, is rebuilt from the journal", async () => {
  const first = await testStore();
  first.journal.appendEvents(3, (n) => ({ data: { words: `running number ${n}` } }));
  expect(await eventsOf(first.store, first.journal)).toBe(3);
  await first.store[Symbol.asyncDispose]();
  const path = join(first.journal.folder, "text.sqlite");
  removeText(path);
  writeTextVersion1(path, first.journal.end);

  const { store, notices } = await testStore(first.stateFolder);
  // No row of the old file has this word.
  const query = { text: { match: "running" } };
  const { total } = await store.request("temporal.query", first.journal.memory, { query, nowMs });
  expect(total).toBe(3);
  expect(rebuiltOf(notices)).toEqual([
    { what: expect.any(String), reason: expect.stringMatching(/is of another version/) as string },
  ]);
  await store[Symbol.asyncDispose]();
  expect(rebuiltOf((await again(first)).notices)).toEqual([]);
});

test("tables whose cold vectors need a codebook are rebuilt from the journal", async () => {
  const first = await testStore();
  const { journal } = first;
  for (const thing of ["beach", "tax"])
    journal.append({
      operation: "store",
      kind: "knowledge",
      id: thing,
      data: canonicalJson({ variant: "Fact", data: {}, text: `all about the ${thing}` }),
    });
  await first.store.request("project", journal.memory, {});
  await first.store[Symbol.asyncDispose]();
  await makeKnowledgeVersion1(journal.folder);
  rmSync(join(journal.folder, "knowledge.exact"));

  const { store, notices } = await testStore(first.stateFolder);
  const query = { similar_to: "all about the tax", top_k: 1 };
  const { items } = await store.request("knowledge.query", journal.memory, { query, nowMs });
  expect(items.map(({ id }) => id)).toEqual(["tax"]);
  expect(rebuiltOf(notices)[0]).toEqual({
    what: "temporal.duckdb",
    reason: expect.stringMatching(/was created by another version/) as string,
  });
  const { vectors } = await store.request("stats", journal.memory, {});
  expect(vectors).toMatchObject({ count: 2, hot: 2, cold: 0 });
});

/** The tables as the first version left them: cold vectors of 64 numbers as 16 centroids and 64 remainders. */
async function makeKnowledgeVersion1(folder: string): Promise<void> {
  await using duck = await openDuck({ folder });
  await using file = await duck.attach(join(folder, "temporal.duckdb"));
  await file.run("CREATE TABLE knowledge_codebooks (space VARCHAR, bytes BLOB)");
  await file.run("UPDATE knowledge_vectors SET tier = 'cold', bytes = unhex(repeat('80', 80))");
  await file.run(
    `UPDATE lares_projection SET versions = replace(versions, '["knowledge",2]', '["knowledge",1]')`,
  );
}

async function again({ stateFolder, journal }: TestStore): Promise<TestStore> {
  const next = await testStore(stateFolder);
  expect(await eventsOf(next.store, journal)).toBe(3);
  return next;
}

/** The file as the first version made it, with rows of other words, followed up to `end` and sealed. */
function writeTextVersion1(path: string, { seq, hash }: ChainEnd): void {
  const database = new DatabaseSync(path);
  const columns = Array.from({ length: 16 }, (_, column) => `c${column}`).join(", ");
  for (const kind of ["temporal", "knowledge"]) {
    database.exec(`
      CREATE VIRTUAL TABLE ${kind} USING fts5(${columns}, content = '', contentless_delete = 1, tokenize = 'ascii');
      INSERT INTO ${kind} (${kind}, rank) VALUES ('secure-delete', 1);
    `);
  }
  database.exec(`
    CREATE TABLE ids (id BLOB PRIMARY KEY, row INTEGER NOT NULL, has_own_text INTEGER NOT NULL, changed INTEGER) WITHOUT ROWID;
    CREATE INDEX ids_changed ON ids (changed) WHERE changed IS NOT NULL;
    CREATE TABLE watermark (seq INTEGER NOT NULL, hash TEXT NOT NULL, has_deleted INTEGER NOT NULL);
    INSERT INTO watermark VALUES (${seq}, '${hash}', 0);
    PRAGMA user_version = 1;
  `);
  for (let row = 1; row <= seq; row++)
    database.prepare("INSERT INTO temporal (rowid, c0) VALUES (?, ?)").run(row, `old ${row}`);
  database.close();
  sealDatabase(path);
}

describe("too much at once", () => {
  test("waits in the kernel, memories taking turns, and beyond its limit is refused as Busy", async () => {
    const { store, journal, stateFolder } = await testStore();
    const other = new TestJournal(stateFolder, "extension/dev.lares.other");
    journal.appendEvents(1);
    other.appendEvents(2);
    // The host is not started yet, so everything waits.
    const asked = Array.from({ length: storeBounds.maxWaitingPerMemory }, () => eventsOf(store, journal));
    await expect(eventsOf(store, journal)).rejects.toThrow(expect.objectContaining({ code: "Busy" }));
    const neighbour = eventsOf(store, other);
    let answered = 0;
    for (const one of asked) void one.then(() => answered++);
    expect(await neighbour).toBe(2);
    expect(answered).toBeLessThan(asked.length);
    expect(new Set(await Promise.all(asked))).toEqual(new Set([1]));
    expect(await eventsOf(store, journal)).toBe(1);
  });
});
