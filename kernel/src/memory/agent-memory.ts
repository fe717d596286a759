import type { Clock } from "../base/clock.ts";
import { isLaresError } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import type { Foreign } from "../base/vocabulary/foreign.ts";
import type { Log } from "../base/log.ts";
import { failpoint } from "../platform/failpoint.ts";
import type { Journal } from "../journal/journal.ts";
import type { Verification } from "../journal/verify.ts";
import { KnowledgeMemory } from "./knowledge.ts";
import { type MemoryPolicy, PolicyRecords } from "./policy-records.ts";
import type {
  KnowledgeAddition,
  KnowledgeChange,
  KnowledgeItem,
  KnowledgeQuery,
  SearchPage,
  SearchQuery,
  TemporalCount,
  TemporalCountQuery,
  TemporalPage,
  TemporalQuery,
} from "../memory-contract/queries.ts";
import type { ExportSource } from "./transfer/export.ts";
import type { VectorItem } from "./transfer/vectors.ts";
import { correctKnowledge } from "./correction.ts";
import { Forgetting, type ForgettingStart } from "./forgetting.ts";
import { countsOf } from "./records/heads.ts";
import { type Cleaned, Retention } from "./retention.ts";
import type { AskStore } from "./store-view.ts";
import type {
  PrunePolicy,
  StoreMemory,
  StoreRequests,
  StoreStats,
  WrittenItem,
} from "../memory-contract/store-port.ts";
import { type EventAddition, TemporalMemory } from "./temporal.ts";
import { Upkeep } from "./upkeep.ts";
import type { RecordKind } from "../memory-contract/records.ts";
import type { WorkingMemory, WorkingState } from "./working.ts";

export interface MemoryStats {
  readonly records: number;
  /** Bytes of all segments of the journal. */
  readonly sizeBytes: number;
  /** Hash of the last record, 64 hexadecimal digits; zeros if there is none. */
  readonly head: string;
  /** Events that are neither forgotten nor too old; while the memory is closed, their number when it was last open. */
  readonly temporalEvents: number;
  /** Items that are neither removed nor forgotten. */
  readonly knowledgeItems: number;
}

/**
 * One memory. A write is acknowledged when the operating system has it. Writing rejects with LimitExceeded { limit,
 * value } or StorageError, and then stores nothing. InvalidParams says what is wrong with the arguments. `foreign`: texts
 * that nobody vouches for and that the writer has read; they stand in the record, so that they go wherever it goes.
 */
export interface AgentMemory extends AsyncDisposable {
  read(): WorkingState;
  /** Also rejects with Conflict { revision }. */
  swap(revision: number, state: JsonValue, foreign?: Foreign): Promise<{ readonly revision: number }>;
  appendEvent(event: EventAddition, foreign?: Foreign): Promise<{ readonly id: string }>;
  /**
   * `updates` is only set for an item with an embedding: the item of the same variant that it is a newer form of,
   * to which it got a relation. For all other items that relation is added after the answer; `queryKnowledge` waits
   * for it.
   */
  addKnowledge(
    addition: KnowledgeAddition,
    foreign?: Foreign,
  ): Promise<{ readonly id: string; readonly updates?: string }>;
  /** Like the methods below, rejects with NotFound for an unknown id. */
  updateKnowledge(change: KnowledgeChange, foreign?: Foreign): Promise<void>;
  /** Returns an item as it was written; null if there is none. */
  writtenKnowledge(id: string): Promise<WrittenItem | null>;
  /** See `correctKnowledge`. */
  correctKnowledge(id: string, text: string): Promise<{ readonly id: string; readonly seq: number }>;
  removeKnowledge(id: string): Promise<void>;
  relate(from: string, to: string, relation: string, foreign?: Foreign): Promise<void>;
  /** These see everything acknowledged before. They reject with the signal's reason when it is aborted. */
  queryEvents(query: TemporalQuery, signal?: AbortSignal): Promise<TemporalPage>;
  countEvents(query: TemporalCountQuery, signal?: AbortSignal): Promise<TemporalCount>;
  queryKnowledge(
    query: KnowledgeQuery,
    signal?: AbortSignal,
  ): Promise<{ readonly items: readonly KnowledgeItem[] }>;
  search(query: SearchQuery, signal?: AbortSignal): Promise<SearchPage>;
  /** See `Retention`. Resolves when the content is gone from journal and projections; `seq` is the redact record's. */
  forget(id: string, reason: string): Promise<{ readonly seq: number }>;
  /** See `Retention`. */
  forgetTexts(texts: readonly string[], conversations: readonly string[], reason: string): Promise<number>;
  /** Also removes knowledge that the prune policy permits; `items` counts it. */
  cleanup(retentionDays: number): Promise<Cleaned & { readonly items: number }>;
  /** Decay, pruning and merging. Changes of the truth are journaled here; the rest belongs to the store. */
  maintain(): Promise<{ readonly deleted: number; readonly related: number; readonly isUnfinished: boolean }>;
  /** Returns the newest recorded policy. */
  policy(): MemoryPolicy | null;
  /** Records the policy if it differs. Resolves to true if it did. */
  recordPolicy(policy: MemoryPolicy): Promise<boolean>;
  /** Resolves when the outcome of every earlier call is on the disk. */
  sync(): Promise<void>;
  stats(): MemoryStats;
  storeStats(): Promise<StoreStats>;
  verify(signal?: AbortSignal): Promise<Verification>;
  /** Returns the current content for an export into one file; see `transfer/`. */
  exportSource(): Promise<ExportSource>;
  /** The memory as the store sees it, always current. */
  readonly store: StoreMemory;
  /** Called when its journal has grown. */
  grown(): void;
  /** True after a disk failure: the memory accepts nothing more, and the next `open` reads the disk again. */
  readonly isBroken: boolean;
}

/** The methods of a memory that is only read. */
export type ReadableMemory = Pick<
  AgentMemory,
  "read" | "queryEvents" | "countEvents" | "queryKnowledge" | "search" | "sync"
>;

interface AgentMemoryParts {
  readonly journal: Journal<RecordKind>;
  readonly working: WorkingMemory;
  readonly ask: AskStore;
  readonly store: StoreMemory;
  readonly oldestEvent: string | null;
  readonly forgetting: ForgettingStart;
  /** Canonical JSON of the newest policy record. */
  readonly policyText: string | null;
  readonly clock: Clock;
  readonly log: Log;
  retentionDays(): number | null;
  prunePolicy(): PrunePolicy | null;
  maxBytes(): number;
  /** Receives the function that closes the memory, so that a caller that opens it again waits for that. */
  close(closeParts: () => Promise<void>): Promise<void>;
}

export function createAgentMemory(parts: AgentMemoryParts): AgentMemory {
  const { journal, working, ask, clock, log } = parts;
  const temporal = new TemporalMemory(journal, clock, parts.oldestEvent);
  const knowledge = new KnowledgeMemory(journal, ask, log, clock);
  const policies = new PolicyRecords(journal, parts.policyText);
  const forgetting = new Forgetting({ ask, clock, log }, parts.forgetting);
  const retention = new Retention({ ...parts, temporal, knowledge, forgetting });
  retention.start();
  const maintain = (): ReturnType<KnowledgeMemory["maintain"]> =>
    knowledge.maintain(clock.now(), parts.prunePolicy());
  const upkeep = new Upkeep({
    clock,
    log,
    stored: () => journal.tally.stored("temporal") + journal.tally.stored("knowledge"),
    maintain,
    project: () => ask("project", {}),
  });

  async function swap(
    revision: number,
    state: JsonValue,
    foreign?: Foreign,
  ): Promise<{ readonly revision: number }> {
    try {
      return await working.swap(revision, state, foreign);
    } catch (error) {
      const isFull = isLaresError(error, "LimitExceeded") && error.facts["limit"] === "max_storage_mb";
      if (!isFull || working.supersededBytes === 0) throw error;
      // The space is partly used by superseded states that nobody can read any more.
      await retention.dropSuperseded();
      return await working.swap(revision, state, foreign);
    } finally {
      retention.afterSwap();
    }
  }

  return {
    read: () => working.read(),
    swap,
    appendEvent: (event, foreign) => temporal.append(event, foreign),
    addKnowledge: (addition, foreign) => {
      upkeep.wrote();
      return knowledge.add(addition, foreign);
    },
    updateKnowledge: (change, foreign) => {
      upkeep.asked();
      return knowledge.update(change, foreign);
    },
    writtenKnowledge: async (id) => (await ask("knowledge.item", { id })).item,
    correctKnowledge: (id, text) => {
      upkeep.wrote();
      return correctKnowledge({ ask, knowledge, retention, clock }, id, text);
    },
    removeKnowledge: (id) => knowledge.remove(id),
    relate: (from, to, relation, foreign) => knowledge.relate(from, to, relation, foreign),
    queryEvents: (query, signal) => ask("temporal.query", { query, nowMs: clock.now() }, signal),
    countEvents: (query, signal) => ask("temporal.count", { query, nowMs: clock.now() }, signal),
    queryKnowledge: async (query, signal) => {
      upkeep.asked();
      await knowledge.looked();
      return await ask("knowledge.query", { query, nowMs: clock.now() }, signal);
    },
    search: (query, signal) => {
      upkeep.asked();
      return ask("search", { query, nowMs: clock.now() }, signal);
    },
    forget: (id, reason) => retention.forget(id, reason),
    forgetTexts: (texts, conversations, reason) => retention.forgetTexts(texts, conversations, reason),
    cleanup: async (retentionDays) => {
      const cleaned = await retention.cleanup(retentionDays);
      const isThere = parts.prunePolicy() !== null && journal.tally.stored("knowledge") > 0;
      return { ...cleaned, items: isThere ? (await maintain()).deleted : 0 };
    },
    maintain,
    policy: () => policies.read(),
    recordPolicy: (policy) => policies.record(policy),
    sync: async () => {
      await working.settled();
      await journal.sync();
      failpoint("memory.sync.done");
    },
    stats: () => ({
      records: journal.end.seq,
      sizeBytes: journal.size,
      head: journal.end.hash,
      ...countsOf(journal.tally),
    }),
    storeStats: () => ask("stats", {}),
    exportSource: async () => {
      await journal.finishRedactions();
      const changedBeforeMs = clock.now();
      const end = { ...journal.end, size: journal.size, carriedOut: journal.carriedOut };
      const { vectors, embedder } = await ask("stats", {}).catch(withoutVectors);
      return {
        name: parts.store.key,
        journalFolder: parts.store.journalFolder,
        end,
        ...(vectors.count === 0
          ? {}
          : {
              vectors: { embedder, dimensions: vectors.dimensions, pages: vectorPages(ask, changedBeforeMs) },
            }),
      };
    },
    verify: (signal) => journal.verify(signal),
    store: parts.store,
    grown: () => upkeep.grown(),
    get isBroken() {
      return journal.isBroken;
    },
    [Symbol.asyncDispose]: () =>
      parts.close(async () => {
        await using _journal = journal;
        await using _working = working;
        upkeep[Symbol.dispose]();
        knowledge[Symbol.dispose]();
        forgetting[Symbol.dispose]();
        await retention[Symbol.asyncDispose]();
      }),
  };
}

/** Vectors only save the importer some work, so an export succeeds even if the store cannot answer. */
function withoutVectors(error: unknown): Pick<StoreStats, "vectors" | "embedder"> {
  if (!isLaresError(error)) throw error;
  const none = { engine: "", dimensions: 0, count: 0, hot: 0, warm: 0, cold: 0, pending: 0, failed: 0 };
  return { vectors: none, embedder: "" };
}

/** Vectors of one page; bounds the size of one answer of the store. */
const vectorsPerPage = 500;

async function* vectorPages(
  ask: AskStore,
  changedBeforeMs: number,
): AsyncGenerator<readonly VectorItem[], void, undefined> {
  for (let afterId: string | null = null; ;) {
    const page: StoreRequests["vectors.page"]["result"] = await ask("vectors.page", {
      afterId,
      limit: vectorsPerPage,
      changedBeforeMs,
    });
    yield page.items;
    afterId = page.items.at(-1)?.id ?? null;
    if (page.isLast || afterId === null) return;
  }
}
