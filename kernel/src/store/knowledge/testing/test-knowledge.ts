import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Clock } from "../../../base/clock.ts";
import type { JsonValue } from "../../../base/json.ts";
import { systemClock } from "../../../platform/clock.ts";
import type { RecordOperation } from "../../../memory-contract/records.ts";
import type { KnowledgeAddition, TemporalItem } from "../../../memory-contract/queries.ts";
import type { Embedder } from "../../embedding/port.ts";
import type { EmbedderSpec, StoreSettings } from "../../../memory-contract/store-settings.ts";
import type { StoreNotice } from "../../../memory-contract/store-port.ts";
import type { JournalRecord } from "../../projection/port.ts";
import { openTextIndex } from "../../projection/text-index.ts";
import { testDuck } from "../../projection/testing/test-duck.ts";
import { until } from "../../../../../test/support/until.ts";
import { KnowledgeStore } from "../knowledge-store.ts";
import { knowledgeTables } from "../tables.ts";
import { plainEngines } from "./plain-engines.ts";
import { ToyEmbedder } from "./toy-embedder.ts";

export const startMs = Date.UTC(2026, 0, 1);
const dayMs = 24 * 60 * 60 * 1000;

interface TestKnowledgeOptions {
  readonly settings?: Partial<StoreSettings>;
  readonly clock?: Clock;
  readonly openEmbedder?: (spec: EmbedderSpec) => Promise<Embedder>;
}

/** A journal of knowledge in memory, projected into a real DuckDB, with the knowledge store on it. */
export async function testKnowledge(options: TestKnowledgeOptions = {}) {
  const { folder, file, duck } = await testDuck();
  await file.transaction((sql) => knowledgeTables.create(sql));
  const text = openTextIndex(join(folder, "text.sqlite"));
  const notices: StoreNotice[] = [];
  const journal: JournalRecord[] = [];
  const events = new Map<number, TemporalItem>();
  let projected = 0;
  let settings: StoreSettings = {
    vectors: "exact",
    embedder: { kind: "hash" },
    maxVectors: 1_000_000,
    ...options.settings,
  };
  const openStore = (): Promise<KnowledgeStore> =>
    KnowledgeStore.open(
      {
        memory: "extension/test",
        folder,
        database: file,
        text,
        engines: plainEngines,
        clock: options.clock ?? systemClock,
        openEmbedder: options.openEmbedder ?? (async (spec) => new ToyEmbedder(spec)),
        events: async (rows) => new Map([...events].filter(([row]) => rows.includes(row))),
        tell: (notice) => notices.push(notice),
      },
      settings,
    );
  let store = await openStore();
  onTestFinished(async () => {
    await store[Symbol.asyncDispose]();
    text.close();
  });

  const say = (operation: RecordOperation, id: string, data: unknown): number => {
    const seq = journal.length + 1;
    const kind = operation === "redact" ? "policy" : "knowledge";
    journal.push({ seq, writtenMs: startMs + seq, operation, kind, id, data: data as JsonValue });
    return seq;
  };
  const memory = {
    folder,
    file,
    text,
    notices,
    journal,
    events,
    get store() {
      return store;
    },
    get settings() {
      return settings;
    },
    say,
    add(id: string, addition: Partial<KnowledgeAddition> & { embedding_f32?: string }): number {
      const { embedding, ...rest } = addition;
      const given = embedding === undefined ? {} : { embedding_f32: f32(embedding) };
      return say("store", id, { variant: "Fact", data: {}, ...rest, ...given });
    },
    /** Projects the records that the journal has gained. */
    async project(): Promise<void> {
      const records = journal.slice(projected);
      projected = journal.length;
      await file.transaction((sql) => knowledgeTables.apply(sql, records));
      text.apply(records, { seq: projected, hash: "0".repeat(64) });
      await store.follow();
    },
    /** Closes it before the test ends, for tests that need many. */
    async [Symbol.asyncDispose](): Promise<void> {
      await store[Symbol.asyncDispose]();
      await duck[Symbol.asyncDispose]();
    },
    /** Resolves when nothing waits for an embedding any more. */
    async embedded(): Promise<void> {
      await until("all is embedded, or given up", async () => (await store.stats()).vectors.pending === 0);
      // A vector is in the tables before it is in the index.
      await store.follow();
    },
    async configure(change: Partial<StoreSettings>): Promise<void> {
      settings = { ...settings, ...change };
      await store.configure(settings);
    },
    /** Reopens as after a crash, or with `isClosed` after an orderly end. */
    async reopen(isClosed = true): Promise<void> {
      const before = store;
      if (isClosed) await before[Symbol.asyncDispose]();
      store = await openStore();
    },
    async ids(query: Parameters<KnowledgeStore["query"]>[0], nowMs = startMs + dayMs): Promise<string[]> {
      return (await store.query(query, nowMs)).items.map(({ id }) => id);
    },
  };
  return memory;
}
export type TestKnowledge = Awaited<ReturnType<typeof testKnowledge>>;

export const f32 = (numbers: readonly number[]): string =>
  Buffer.from(new Float32Array(numbers).buffer).toString("base64");
