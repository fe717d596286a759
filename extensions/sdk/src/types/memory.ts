import type { CallOptions } from "./call.ts";

/**
 * The shape of an agent's memories: `interface Memory { history: …; knowledge: …; plan: … }`, each optional.
 * `history` and `knowledge` name the data of an item, or, as an object type, the data of each variant.
 */
export interface MemoryShape {
  history?: unknown;
  knowledge?: unknown;
  plan?: unknown;
}

/** A part of the shape; anything if the shape omits it. */
export type PartOf<Memory, Part extends keyof MemoryShape> = Memory extends { [P in Part]: infer Shape }
  ? Shape
  : Untyped;

// oxlint-disable-next-line typescript/no-explicit-any -- an agent without a memory type works with whatever it wrote
export type Untyped = any;

/** The data of one variant: the shape's own field of that name, else the shape itself. */
type DataOf<Shape, Variant> = Variant extends keyof Shape ? Shape[Variant] : Shape;

export type Operator = "eq" | "ne" | "in" | "gt" | "gte" | "lt" | "lte" | "contains";
export type SearchMode = "auto" | "text" | "vector" | "hybrid";
/** Milliseconds since 1970, a date, ISO 8601, or an age: "90s", "30m", "12h", "7d", "2w". */
export type When = number | string | Date;
/** In degrees. */
export type Position = readonly [latitude: number, longitude: number];
/** The same number of dimensions as all others of this memory. */
export type Embedding = readonly number[] | Float32Array;

export interface HistoryItem<Data = Untyped> {
  readonly id: string;
  readonly variant: string;
  readonly timestamp: string;
  readonly data: Data;
}

/**
 * A question to temporal memory. Each step gives a new query that asks for more; `collect`, `page`, `count` or `countBy`
 * sends it. All conditions have to hold; `variant`, times and text said again replace what was said before.
 */
export interface HistoryQuery<Data = Untyped, Shape = Data> {
  variant<Variant extends string>(variant: Variant): HistoryQuery<DataOf<Shape, Variant>, Shape>;
  /** From then on, that moment included. */
  since(when: When): HistoryQuery<Data, Shape>;
  /** Before then, that moment not included. */
  until(when: When): HistoryQuery<Data, Shape>;
  /** `from` included, `until` not. */
  between(from: When, until: When): HistoryQuery<Data, Shape>;
  /** All these words, in one field of the data ("a.b.c"), or anywhere in it. */
  whereText(match: string): HistoryQuery<Data, Shape>;
  whereText(field: string, match: string): HistoryQuery<Data, Shape>;
  /** `field` is dotted: "a.b.c"; a number is a place in an array. At most 32 conditions. */
  where(field: string, op: Operator, value: unknown): HistoryQuery<Data, Shape>;
  /** The same as `where(field, "eq", value)`. */
  whereField(field: string, value: unknown): HistoryQuery<Data, Shape>;
  /** Within `km` of [latitude, longitude]. */
  near(field: string, position: Position, km: number): HistoryQuery<Data, Shape>;
  /** Default "desc": newest first. */
  orderByTime(order: "asc" | "desc"): HistoryQuery<Data, Shape>;
  /** 1 to 1,000, default 100. */
  limit(count: number): HistoryQuery<Data, Shape>;
  /** Skips this many at the beginning; default 0. */
  offset(count: number): HistoryQuery<Data, Shape>;
  collect(options?: CallOptions): Promise<HistoryItem<Data>[]>;
  /** `total`: all that match, not only these. */
  page(options?: CallOptions): Promise<{ readonly items: HistoryItem<Data>[]; readonly total: number }>;
  /** All that match, whatever the limit. */
  count(options?: CallOptions): Promise<number>;
  /** The same, for each variant, or each hour or day (UTC) in which there is one, by the ISO time of its beginning. */
  countBy(group: "variant" | "hour" | "day", options?: CallOptions): Promise<Record<string, number>>;
}

/** The position of an item among its neighbours, which help `search` to find it. */
export interface Place {
  /**
   * What it is a part of, such as a conversation or a file: parts of one source follow each other. Without one, what is
   * added within half an hour of the one before it follows it.
   */
  readonly source?: string;
  /** Its place in the source; without one: by time. Give it for all parts of a source, or for none. */
  readonly position?: number;
}

/** Temporal memory: what happened, by time. */
export interface History<Shape = Untyped> {
  /** The new item's id. `timestamp`: when it happened, default now; milliseconds since 1970, a date, or ISO 8601. */
  append<Variant extends string>(
    variant: Variant,
    data: DataOf<Shape, Variant>,
    options?: { readonly timestamp?: number | string | Date } & Place,
  ): Promise<string>;
  query(): HistoryQuery<Shape>;
}

export interface Relation {
  readonly to: string;
  /** RelatedTo, Updates, Contradicts, CausedBy, PartOf, or the agent's own. */
  readonly relation: string;
}

export interface KnowledgeOptions {
  /** The text that is embedded and searched; default: the words in the data. */
  readonly text?: string;
  /** An embedding by the agent's own model, for `similarToEmbedding`. Never compared with the kernel's embeddings. */
  readonly embedding?: Embedding;
  /** 0 to 1, default 0.5. */
  readonly importance?: number;
  readonly relations?: readonly Relation[];
}

/** Optional fields of a new item. */
export interface KnowledgeAddOptions extends KnowledgeOptions, Place {
  /** When it was said or happened, default now; milliseconds since 1970, a date, or ISO 8601. */
  readonly timestamp?: number | string | Date;
}

export interface KnowledgeItem<Data = Untyped> {
  readonly id: string;
  readonly variant: string;
  readonly data: Data;
  readonly text?: string;
  /** Cosine, -1 to 1; only where similarity was asked for. */
  readonly similarity?: number;
  /** 0 to 1; falls with time, rises with use and relations. */
  readonly importance: number;
  readonly relations: readonly Relation[];
  /** False: not embedded yet, found by text only. */
  readonly embedded: boolean;
}

/**
 * A query of associative memory. Each step returns a new query with one more condition; `collect` sends it. Sorted by
 * similarity if it asks for one, else by importance.
 */
export interface KnowledgeQuery<Data = Untyped, Shape = Data> {
  similarTo(text: string): KnowledgeQuery<Data, Shape>;
  /** Instead of `similarTo`: among the items that brought an embedding. */
  similarToEmbedding(embedding: Embedding): KnowledgeQuery<Data, Shape>;
  variant<Variant extends string>(variant: Variant): KnowledgeQuery<DataOf<Shape, Variant>, Shape>;
  /** `field` is dotted: "a.b.c"; a number is a place in an array. At most 32 conditions. */
  where(field: string, op: Operator, value: unknown): KnowledgeQuery<Data, Shape>;
  /** The same as `where(field, "eq", value)`. */
  whereField(field: string, value: unknown): KnowledgeQuery<Data, Shape>;
  /** Within `km` of [latitude, longitude]. */
  near(field: string, position: Position, km: number): KnowledgeQuery<Data, Shape>;
  /** Reached from this item in at most `depth` (1 to 5, default 1) relations, in either direction, of one kind if it is named. */
  relatedTo(id: string, depth?: number, relation?: string): KnowledgeQuery<Data, Shape>;
  /** -1 to 1. */
  minSimilarity(similarity: number): KnowledgeQuery<Data, Shape>;
  /** 1 to 1,000, default 10. */
  topK(count: number): KnowledgeQuery<Data, Shape>;
  collect(options?: CallOptions): Promise<KnowledgeItem<Data>[]>;
}

/** Associative memory: knowledge, by meaning and relation. */
export interface Knowledge<Shape = Untyped> {
  /** The new item's id. */
  add<Variant extends string>(
    variant: Variant,
    data: DataOf<Shape, Variant>,
    options?: KnowledgeAddOptions,
  ): Promise<string>;
  /**
   * Like `add`. An item that seems to be a newer form of one of the same variant (similarity over 0.9) is related to it
   * by "Updates"; the agent decides which of them stays. If it brings an embedding, this is found at once, and
   * `updates` names the other one. For all others the relation is added a moment later, and the answer has no
   * `updates`.
   */
  record<Variant extends string>(
    variant: Variant,
    data: DataOf<Shape, Variant>,
    options?: KnowledgeAddOptions,
  ): Promise<{ readonly id: string; readonly updates?: string }>;
  /** Changes what is named, and leaves the rest. Rejects with `NotFound` for an unknown id, as the two below. */
  update(
    id: string,
    change: { readonly variant?: string; readonly data?: unknown } & Omit<KnowledgeOptions, "relations">,
  ): Promise<void>;
  remove(id: string): Promise<void>;
  relate(from: string, to: string, relation: string): Promise<void>;
  query(): KnowledgeQuery<Shape>;
}

/** Working memory: one small state, changed as a whole. */
export interface Plan<State = Untyped> {
  read(): Promise<State>;
  /**
   * Changes the state by `change`, which gets a copy and returns the new state (or changes the copy). If
   * somebody else wrote meanwhile, it is called again with what they wrote. Nothing is written when it
   * throws. Returns the new state.
   */
  update(change: (state: State) => State | void | Promise<State | void>): Promise<State>;
  set(state: State): Promise<void>;
  /** Back to the initial state. */
  reset(): Promise<void>;
}

/** An event, or an item of knowledge; `kind` says which. A higher `score` is better. */
export type SearchHit<Memory = MemoryShape> = { readonly score: number } & (
  | ({ readonly kind: "temporal" } & HistoryItem<PartOf<Memory, "history">>)
  | ({ readonly kind: "associative" } & KnowledgeItem<PartOf<Memory, "knowledge">>)
);

/** The hits, best first, and what was really done: "auto" becomes one of the others. */
export type SearchHits<Memory = MemoryShape> = SearchHit<Memory>[] & {
  readonly mode: Exclude<SearchMode, "auto">;
};

export interface AgentMemory<Memory = MemoryShape> {
  readonly history: History<PartOf<Memory, "history">>;
  readonly knowledge: Knowledge<PartOf<Memory, "knowledge">>;
  readonly plan: Plan<PartOf<Memory, "plan">>;
  /**
   * Searches history and knowledge together. `limit`: 1 to 1,000, default 10. Mode "auto" uses the best that is
   * available; "vector" rejects with `VectorSearchNotConfigured` if nothing can be embedded.
   */
  search(
    text: string,
    options?: { readonly mode?: SearchMode; readonly limit?: number } & CallOptions,
  ): Promise<SearchHits<Memory>>;
  /** Resolves when everything written so far survives a power cut. */
  sync(): Promise<void>;
  /** Forgets events that are older; and removes what the manifest's `memory_prune` says of knowledge. */
  cleanup(options: { readonly retentionDays: number }): Promise<void>;
  /** The same memories in a shared namespace that was granted. */
  in(namespace: string): AgentMemory<Memory>;
}
