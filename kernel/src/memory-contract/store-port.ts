import type { DeepReadonly } from "../base/deep-readonly.ts";
import type { ErrorFacts } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import type { MemoryStats } from "../base/vocabulary/memory-reports.ts";
import type { ChainEnd } from "./records.ts";
import type {
  KnowledgeItem,
  KnowledgeQuery,
  SearchPage,
  SearchQuery,
  TemporalCount,
  TemporalCountQuery,
  TemporalPage,
  TemporalQuery,
} from "./queries.ts";
import type { OnnxModel, StoreSettings } from "./store-settings.ts";

/**
 * A memory as each request to the store host names it. The host opens what it needs and keeps at most 32 memories open.
 * The request contains everything, so it can be sent to the next host if one dies.
 */
export interface StoreMemory {
  /** Unique in the kernel: "extension/<id>", "namespace/<name>", "import/<name>". */
  readonly key: string;
  /** Absolute path of the folder for the projections. */
  readonly folder: string;
  /** Absolute path, usually `folder`/journal. The store host only reads it. */
  readonly journalFolder: string;
  /** The acknowledged end. A query sees all records up to it and none beyond, which may still be cut off. */
  readonly end: ChainEnd;
  /** Increases whenever segments were rewritten (redaction), so that positions in them are looked up again. */
  readonly rewrites: number;
  readonly settings: StoreSettings;
}

/** The store host's figures about its projections. */
export type StoreStats = DeepReadonly<NonNullable<MemoryStats["projections"]>>;

/** If a new item is more similar than this to an existing one, it is taken for a newer form of it. */
export const updatesSimilarity = 0.9;

/** An item that is about to be added, with the fields by which it is compared. */
export interface NewItem {
  readonly id: string;
  readonly variant: string;
  readonly embedding?: readonly number[];
}

/**
 * The item of the same variant whose embedding is most similar to the one it brings; null if none is above the
 * requested similarity, or if it brings none. `refused`: its embedding cannot be compared with the existing ones.
 */
export type Nearest =
  | { readonly id: string; readonly similarity: number }
  | { readonly refused: string; readonly facts: ErrorFacts }
  | null;

/** What may be pruned: items that meet all of these conditions and were never found. */
export interface PrunePolicy {
  /** Effective importance, 0 to 1. */
  readonly belowImportance: number;
  /** Since the item was stored or changed. */
  readonly olderThanMs: number;
}

/** A change of the journal that maintenance proposes. It takes effect only when the kernel has written it. */
export type ProposedChange =
  | { readonly operation: "delete"; readonly id: string; readonly reason: "pruned" | "merged" }
  | { readonly operation: "relate"; readonly from: string; readonly to: string; readonly relation: string };

export interface ProposedUpdates {
  readonly changes: readonly ProposedChange[];
  /** True if more can be examined now, or once these changes are in the tables: call again at once. */
  readonly isMore: boolean;
  /** True if there are items that cannot be examined yet. */
  readonly isWaiting: boolean;
}

export interface Maintained {
  readonly changes: readonly ProposedChange[];
  /** True if items wait or changes are only proposed: maintenance is worth running again even without use. */
  readonly isUnfinished: boolean;
}

type Nothing = Readonly<Record<string, never>>;

/** An item of knowledge without what the store made of it. */
export interface WrittenItem {
  readonly variant: string;
  readonly data: JsonValue;
  /** Null: the words in its data are searched. */
  readonly text: string | null;
  readonly importance: number;
}

/** The requests by name. Each but `close` first brings the projections up to `memory.end`. */
export interface StoreRequests {
  "temporal.query": { params: { query: TemporalQuery; nowMs: number }; result: TemporalPage };
  "temporal.count": { params: { query: TemporalCountQuery; nowMs: number }; result: TemporalCount };
  "knowledge.query": {
    params: { query: KnowledgeQuery; nowMs: number };
    result: { items: readonly KnowledgeItem[] };
  };
  /** Returns an item as it was written, with the importance that was given, or the default; null if there is none. */
  "knowledge.item": { params: { id: string }; result: { item: WrittenItem | null } };
  /** Returns which of these ids exist. */
  "knowledge.existing": { params: { ids: readonly string[] }; result: { ids: readonly string[] } };
  /** Returns, for each item about to be added, what is most similar; earlier items of the list count as added. */
  "knowledge.nearest": {
    params: { items: readonly NewItem[]; minSimilarity: number };
    result: { nearest: readonly Nearest[] };
  };
  /** Proposes `Updates` relations between items that no journal record states yet. */
  "knowledge.updates": { params: Nothing; result: ProposedUpdates };
  search: { params: { query: SearchQuery; nowMs: number }; result: SearchPage };
  stats: { params: Nothing; result: StoreStats };
  /** Decay, pruning, merging, tiers, compaction of indexes. Proposes changes of the journal. */
  maintain: {
    params: { nowMs: number; prune: PrunePolicy | null };
    result: Maintained;
  };
  /** Returns every vector, page by page, for an export; without items that changed at `changedBeforeMs` or later. */
  "vectors.page": {
    params: { afterId: string | null; limit: number; changedBeforeMs: number };
    result: { dimensions: number; items: readonly { id: string; base64F32: string }[]; isLast: boolean };
  };
  /**
   * Gives vectors of an import to items that have none yet. `isWanted` is false if another embedder, or none, serves,
   * so that giving more is useless.
   */
  "vectors.give": {
    params: { embedder: string; items: readonly { id: string; base64F32: string }[] };
    result: { isWanted: boolean; taken: number };
  };
  /** Only brings the projections up to `memory.end`. */
  project: { params: Nothing; result: Nothing };
  /** Deletes the projections and rebuilds them. */
  rebuild: { params: Nothing; result: Nothing };
  close: { params: Nothing; result: Nothing };
}
export type StoreRequestName = keyof StoreRequests;

/** Notices that the store host sends without a request. */
export type StoreNotice =
  | {
      readonly kind: "progress";
      readonly memory: string;
      readonly what: "projections" | "embeddings" | "index";
      readonly done: number;
      readonly total: number;
    }
  /** A projection was damaged, or the journal does not continue where it ended; it was rebuilt. */
  | { readonly kind: "rebuilt"; readonly memory: string; readonly what: string; readonly reason: string }
  | {
      readonly kind: "log";
      readonly level: "debug" | "info" | "warn" | "error";
      readonly message: string;
      readonly fields?: Readonly<Record<string, JsonValue>>;
    };

/**
 * The kernel's side of the store host. Starts the host with the first request; resends requests that a dead one left
 * open.
 */
export interface Store extends AsyncDisposable {
  request<Name extends StoreRequestName>(
    name: Name,
    memory: StoreMemory,
    params: StoreRequests[Name]["params"],
    /** If it is aborted, the request rejects with its reason, and the host does not start it any more. */
    signal?: AbortSignal,
  ): Promise<StoreRequests[Name]["result"]>;
  /**
   * Reports that the journal has grown: the projections follow in the background, soon and in batches. Never starts a
   * host, and costs nothing if none runs.
   */
  grown(memory: StoreMemory): void;
  /** Null while no host runs. */
  readonly pid: number | null;
}

/** A POST for the store host, which opens no connections itself. The kernel sends it. */
export interface OutsideRequest {
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Time from the request to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Maximum bytes of the answer's body; a longer one is an error. */
  readonly maxBytes: number;
}

export interface OutsideAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** Resolves with the whole answer. Rejects with an `OutsideError`. */
export type PostOutside = (
  request: OutsideRequest,
  body: Uint8Array,
  signal: AbortSignal,
) => Promise<OutsideAnswer>;

/** Why there is no answer. */
export type OutsideFailure = "Timeout" | "Network" | "Denied" | "TooLong" | "Cancelled";

export class OutsideError extends Error {
  readonly failure: OutsideFailure;

  constructor(failure: OutsideFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

/** The vectors of texts from a local model, as 32-bit floats in order, or why there are none. */
export type Embedded =
  | { readonly name: string; readonly dimensions: number; readonly vectors: Uint8Array }
  | { readonly failure: string; readonly isRetryable: boolean };

/** Embeds at most 64 texts with a model of the inference host; without texts, checks its files again. Never rejects. */
export type EmbedHere = (model: OnnxModel, texts: readonly string[]) => Promise<Embedded>;
