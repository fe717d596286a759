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
 * A memory as it is named in every request to the store host, which opens what it needs and keeps at most 32 open. So
 * a request can be sent again to the next host after one has died: nothing but the journal has to be known.
 */
export interface StoreMemory {
  /** Unique in the kernel: "extension/<id>", "namespace/<name>", "import/<name>". */
  readonly key: string;
  /** Absolute; the projections lie here. */
  readonly folder: string;
  /** Absolute; usually `folder`/journal. Only ever read by the store host. */
  readonly journalFolder: string;
  /** Acknowledged up to here. What is asked sees all of it; nothing beyond is read, for it may be cut off again. */
  readonly end: ChainEnd;
  /** Counts how often segments were rewritten (redaction), so that places in them are looked up again. */
  readonly rewrites: number;
  readonly settings: StoreSettings;
}

/** What the store host says of its projections. */
export type StoreStats = DeepReadonly<NonNullable<MemoryStats["projections"]>>;

/** Above this, what is added is taken for a newer form of what is there. */
export const updatesSimilarity = 0.9;

/** What is about to be added, as far as it can be like something. */
export interface NewItem {
  readonly id: string;
  readonly variant: string;
  readonly embedding?: readonly number[];
}

/**
 * The item of the same variant whose embedding is most like the one it brings; null where none is above the similarity
 * that was asked for, or where it brings none. `refused`: its embedding cannot be compared with those that are there.
 */
export type Nearest =
  | { readonly id: string; readonly similarity: number }
  | { readonly refused: string; readonly facts: ErrorFacts }
  | null;

/** What may be pruned: all of it has to hold, and it was never found. */
export interface PrunePolicy {
  /** Effective importance, 0 to 1. */
  readonly belowImportance: number;
  /** Since it was stored or changed. */
  readonly olderThanMs: number;
}

/** A change of the truth that maintenance finds right; the kernel journals it, and only then it counts. */
export type ProposedChange =
  | { readonly operation: "delete"; readonly id: string; readonly reason: "pruned" | "merged" }
  | { readonly operation: "relate"; readonly from: string; readonly to: string; readonly relation: string };

export interface ProposedUpdates {
  readonly changes: readonly ProposedChange[];
  /** There is more to look at now, or these changes are to be seen in the tables first: worth asking again at once. */
  readonly isMore: boolean;
  /** There are items that cannot be looked at yet. */
  readonly isWaiting: boolean;
}

export interface Maintained {
  readonly changes: readonly ProposedChange[];
  /** Something waits, or is only proposed: it is worth maintaining once more, though nobody asks meanwhile. */
  readonly isUnfinished: boolean;
}

type Nothing = Readonly<Record<string, never>>;

/** The requests by their names. Each but `close` brings the projections up to `memory.end` first. */
export interface StoreRequests {
  "temporal.query": { params: { query: TemporalQuery; nowMs: number }; result: TemporalPage };
  "temporal.count": { params: { query: TemporalCountQuery; nowMs: number }; result: TemporalCount };
  "knowledge.query": {
    params: { query: KnowledgeQuery; nowMs: number };
    result: { items: readonly KnowledgeItem[] };
  };
  /** Which of these ids exist. */
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
  /** Decay, prune, merge, tiers, compaction of indexes. Proposes what would change the truth. */
  maintain: {
    params: { nowMs: number; prune: PrunePolicy | null };
    result: Maintained;
  };
  /** Every vector, page by page, for an export; not of items that changed at `changedBeforeMs` or later. */
  "vectors.page": {
    params: { afterId: string | null; limit: number; changedBeforeMs: number };
    result: { dimensions: number; items: readonly { id: string; base64F32: string }[]; isLast: boolean };
  };
  /**
   * Vectors that came with an import, for items that have none yet. `isWanted`: false where another embedder, or none,
   * serves, so that there is no use in giving more.
   */
  "vectors.give": {
    params: { embedder: string; items: readonly { id: string; base64F32: string }[] };
    result: { isWanted: boolean; taken: number };
  };
  /** Only brings the projections up to `memory.end`. */
  project: { params: Nothing; result: Nothing };
  /** Deletes the projections and builds them again. */
  rebuild: { params: Nothing; result: Nothing };
  close: { params: Nothing; result: Nothing };
}
export type StoreRequestName = keyof StoreRequests;

/** What the store host tells by itself. */
export type StoreNotice =
  | {
      readonly kind: "progress";
      readonly memory: string;
      readonly what: "projections" | "embeddings" | "index";
      readonly done: number;
      readonly total: number;
    }
  /** The journal on the disk does not go on from where a projection is; it was built again. Also for other faults that were mended. */
  | { readonly kind: "mended"; readonly memory: string; readonly what: string; readonly reason: string }
  | {
      readonly kind: "log";
      readonly level: "debug" | "info" | "warn" | "error";
      readonly message: string;
      readonly fields?: Readonly<Record<string, JsonValue>>;
    };

/** The kernel's side of the store host. Starts it with the first request; sends again what a dying one left open. */
export interface Store extends AsyncDisposable {
  request<Name extends StoreRequestName>(
    name: Name,
    memory: StoreMemory,
    params: StoreRequests[Name]["params"],
    /** Where it is aborted, the request rejects with its reason; the host does not begin with it any more. */
    signal?: AbortSignal,
  ): Promise<StoreRequests[Name]["result"]>;
  /**
   * The journal has grown: the projections follow behind, soon and in batches. Never starts a host, and costs nothing
   * where none runs.
   */
  grown(memory: StoreMemory): void;
  /** Null while no host runs. */
  readonly pid: number | null;
}

/** A POST of the store host, which opens no connections itself: the kernel has it sent. */
export interface OutsideRequest {
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** From the request to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Bytes of the answer's body; a longer one is an error. */
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

/** The vectors of texts by a model on this machine, as 32-bit floats in order, or why there are none. */
export type Embedded =
  | { readonly name: string; readonly dimensions: number; readonly vectors: Uint8Array }
  | { readonly failure: string; readonly isRetryable: boolean };

/** Embeds at most 64 texts with a model of the inference host; without texts, looks at its files again. Never rejects. */
export type EmbedHere = (model: OnnxModel, texts: readonly string[]) => Promise<Embedded>;
