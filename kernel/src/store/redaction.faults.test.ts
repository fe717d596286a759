import { afterEach, describe, expect, test } from "vitest";
import { type DiskError, type DiskRule, whyNoFailingDisk } from "../../../test/fault/support/failing-disk.ts";
import { seeded } from "../../../test/support/seed.ts";
import { messageOf } from "../base/errors.ts";
import { canonicalJson, type JsonValue } from "../base/json.ts";
import { failpointNames } from "../platform/failpoints.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import type { RecordKind, RecordOperation } from "../memory-contract/records.ts";
import type { Store, StoreMemory } from "../memory-contract/store-port.ts";
import { dyingAt, noMoreDying } from "./testing/dying-hosts.ts";
import { Secrets } from "./testing/secrets.ts";
import { beginningMs, TestJournal } from "./testing/test-journal.ts";
import { testStore } from "./testing/test-store.ts";
import { throughDisk, told } from "./testing/through-disk.ts";
import { Engines } from "./vectors/engines.ts";
import type { EngineName } from "../memory-contract/store-settings.ts";

/*
 * Forgotten data is in no file of the store host once it has reported that it followed. Searched by bytes in tables,
 * full text and vector indexes; also when the disk fails at every call, and when the host dies midway.
 */

const why = await whyNoFailingDisk();
const hasFaiss = await new Engines().isAvailable("faiss");
const graph: EngineName = hasFaiss ? "faiss" : "usearch";
const engines: readonly EngineName[] = hasFaiss ? ["exact", "usearch", "faiss"] : ["exact", "usearch"];
const nowMs = beginningMs;
const dimensions = 16;

const random = seeded();
const aVector = (): Float32Array => Float32Array.from({ length: dimensions }, () => random() - 0.5);
const base64 = (vector: Float32Array): string => Buffer.from(vector.buffer).toString("base64");
const fromBase64 = (text: string): Float32Array =>
  new Float32Array(Uint8Array.from(Buffer.from(text, "base64")).buffer);

/** A memory of which some data is to stay and some to be forgotten. */
class Remembered {
  readonly secrets = new Secrets();
  readonly journal: TestJournal;
  readonly #engine: EngineName;
  /** Seqs of the records to forget. */
  #secretSeqs: number[] = [];
  #events = 0;
  #items = 0;

  constructor(journal: TestJournal, engine: EngineName) {
    this.journal = journal;
    this.#engine = engine;
  }

  get memory(): StoreMemory {
    const { memory } = this.journal;
    return { ...memory, settings: { ...memory.settings, vectors: this.#engine } };
  }

  /** Items that stay, enough for a graph to be built. */
  grow(count: number, { isGiven }: { readonly isGiven: boolean }): void {
    for (let n = 0; n < count; n++) {
      this.#items += 1;
      const given = isGiven ? { embedding_f32: base64(aVector()) } : {};
      const data = { variant: "Fact", data: {}, text: `thing number ${this.#items}`, ...given };
      this.#append("store", "knowledge", `item-${this.#items}`, data);
    }
    this.journal.appendEvents(count, (seq) => ({ data: { words: `event ${seq}` } }));
    this.#events += count;
  }

  event(id: string): void {
    const timestamp = new Date(nowMs).toISOString();
    this.#secret("store", "temporal", id, { variant: "noted", timestamp, data: this.secrets.text(id) });
  }

  item(id: string): void {
    const vector = aVector();
    this.secrets.vector(`${id}, given`, vector);
    const text = this.secrets.text(id);
    const data = { note: this.secrets.text(`the data of ${id}`) };
    this.#secret("store", "knowledge", id, { variant: "Fact", data, text, embedding_f32: base64(vector) });
  }

  update(id: string): void {
    this.#secret("update", "knowledge", id, { text: this.secrets.text(`${id}, updated`) });
  }

  remove(id: string): void {
    this.#append("delete", "knowledge", id, {});
  }

  /** The embedder's vectors of these items are secret, too. */
  async embedded(store: Store, ...ids: readonly string[]): Promise<void> {
    const place = { afterId: null, limit: 10_000, changedBeforeMs: Number.MAX_SAFE_INTEGER };
    const { items } = await store.request("vectors.page", this.memory, place);
    for (const { id, base64F32 } of items)
      if (ids.includes(id)) this.secrets.vector(`${id}, made`, fromBase64(base64F32));
  }

  forget(kind: RecordKind): void {
    this.journal.redact(kind, "secret", this.#secretSeqs);
    this.#secretSeqs = [];
  }

  async answers(store: Store): Promise<object> {
    const words = { text: { match: "event" }, limit: 1 };
    const like = { similar_to: `thing number ${this.#items}`, top_k: 1 };
    const { items } = await store.request("knowledge.query", this.memory, { query: like, nowMs });
    return {
      events: (await store.request("temporal.count", this.memory, { query: {}, nowMs })).count,
      worded: (await store.request("temporal.query", this.memory, { query: words, nowMs })).total,
      items: (await store.request("stats", this.memory, {})).knowledge.items,
      like: items.map(({ id }) => id),
    };
  }

  /** When everything secret is forgotten. */
  right(): object {
    return {
      events: this.#events,
      worded: this.#events,
      items: this.#items,
      like: [`item-${this.#items}`],
    };
  }

  #secret(operation: RecordOperation, kind: RecordKind, id: string, data: JsonValue): void {
    this.#append(operation, kind, id, data);
    this.#secretSeqs.push(this.journal.end.seq);
  }

  #append(operation: RecordOperation, kind: RecordKind, id: string, data: JsonValue): void {
    this.journal.append({ operation, kind, id, data: canonicalJson(data) });
  }
}

/** Writes everything that can be secret; the result is in all files. One thing was removed before. */
async function sayAll(remembered: Remembered, store: Store, name: string): Promise<void> {
  remembered.event(`event of ${name}`);
  remembered.item(`item of ${name}`);
  remembered.item(`removed of ${name}`);
  await store.request("project", remembered.memory, {});
  await remembered.embedded(store, `item of ${name}`, `removed of ${name}`);
  await store.request("close", remembered.memory, {});
  remembered.update(`item of ${name}`);
  await store.request("project", remembered.memory, {});
  await remembered.embedded(store, `item of ${name}`);
  remembered.remove(`removed of ${name}`);
  await store.request("project", remembered.memory, {});
  await store.request("close", remembered.memory, {});
}

interface Forgotten {
  readonly what: string;
  readonly kind: RecordKind;
  say(remembered: Remembered): void;
  /** When that is in the files. */
  later?(remembered: Remembered): void;
}
const item = (it: Remembered): void => it.item("secret");
const forgotten: readonly Forgotten[] = [
  { what: "an event", kind: "temporal", say: (it) => it.event("secret") },
  { what: "an item", kind: "knowledge", say: item },
  { what: "an updated item", kind: "knowledge", say: item, later: (it) => it.update("secret") },
  {
    what: "an item that was removed before",
    kind: "knowledge",
    say: item,
    later: (it) => it.remove("secret"),
  },
];

describe.each(engines)("%s: forgotten,", (engine) => {
  test.each(forgotten)("$what is in no file, and everything else is found", async ({ kind, say, later }) => {
    // If the other items have no vectors of their own, the last one of its kind goes.
    for (const isGiven of [true, false]) {
      const { store, journal, stateFolder } = await testStore();
      const remembered = new Remembered(journal, engine);
      remembered.grow(300, { isGiven });
      say(remembered);
      await store.request("project", remembered.memory, {});
      await remembered.embedded(store, "secret");
      await store.request("close", remembered.memory, {});
      later?.(remembered);
      await store.request("project", remembered.memory, {});
      await store.request("close", remembered.memory, {});
      expect(remembered.secrets.foundIn(stateFolder)).not.toEqual([]);
      remembered.forget(kind);
      await store.request("project", remembered.memory, {});
      expect(remembered.secrets.foundIn(stateFolder)).toEqual([]);
      expect(await remembered.answers(store)).toEqual(remembered.right());
      await store.request("close", remembered.memory, {});
      expect(remembered.secrets.foundIn(stateFolder)).toEqual([]);
    }
  });
});

interface Case {
  readonly error: DiskError;
  /** The part of a path by which the failing paths are chosen. */
  readonly path: string;
  readonly operations?: string;
  readonly engine: EngineName;
}
const failures: readonly Case[] = [
  { error: "ENOSPC", path: "/memory/", engine: "exact" },
  { error: "ENOSPC", path: "/memory/", engine: graph },
  { error: "EIO", path: "/memory/", engine: graph },
  { error: "EIO", path: "/memory/", operations: "rename,unlink", engine: graph },
  { error: "ENOSPC", path: "temporal.duckdb", engine: "exact" },
  { error: "EIO", path: "temporal.duckdb", operations: "sync", engine: "exact" },
  { error: "EIO", path: "text.sqlite", engine: "exact" },
];

describe.skipIf(why !== null)("while the disk fails under it", () => {
  test.each(failures)(
    "$error at $path, $engine, from each call on: an error is reported, and with space again nothing of it is in any file",
    async ({ engine, ...rule }) => {
      const disk = await throughDisk(await temporaryFolder());
      const { store, journal, stateFolder } = await testStore();
      const remembered = new Remembered(journal, engine);
      remembered.grow(300, { isGiven: true });
      const refusals: string[] = [];
      let rounds = 0;
      for (let from = 1, struck = true; struck; from = Math.ceil(from * 1.5)) {
        await sayAll(remembered, store, `round ${from}`);
        // In half of the cases the memory is open already, in the others the failures begin while it is opened.
        if (rounds % 2 === 0) await remembered.answers(store);
        const failing: DiskRule = { ...rule, from };
        await disk.fail(failing);
        remembered.forget("knowledge");
        const outcome = await store
          .request("project", remembered.memory, {})
          .catch((error: unknown) => error);
        struck = (await disk.struck()).length > 0;
        await disk.mend();
        if (outcome instanceof Error) {
          expect(outcome, messageOf(outcome)).toMatchObject({ code: "StorageError" });
          refusals.push(messageOf(outcome));
          await store.request("project", remembered.memory, {});
        }
        expect(remembered.secrets.foundIn(stateFolder), `from ${from}: ${messageOf(outcome)}`).toEqual([]);
        expect(await remembered.answers(store), `from ${from}`).toEqual(remembered.right());
        rounds += 1;
      }
      expect(rounds).toBeGreaterThan(1);
      expect(refusals).not.toEqual([]);
      for (const refusal of refusals) expect(refusal).toMatch(told);
    },
  );
});

describe("when it dies", () => {
  afterEach(noMoreDying);

  const passed = failpointNames.filter(
    (name) => name.startsWith("store.") && !name.startsWith("store.discard."),
  );
  test.each(passed)("at %s, the next one removes it from every file", async (point) => {
    const { store: before, journal, stateFolder } = await testStore();
    const remembered = new Remembered(journal, graph);
    remembered.grow(300, { isGiven: false });
    await sayAll(remembered, before, "all");
    await before[Symbol.asyncDispose]();
    const deaths = await dyingAt(point);
    const { store } = await testStore(stateFolder);
    remembered.forget("knowledge");
    await store.request("project", remembered.memory, {});
    expect(deaths()).toEqual([point]);
    expect(remembered.secrets.foundIn(stateFolder)).toEqual([]);
    expect(await remembered.answers(store)).toEqual(remembered.right());
  });
});
