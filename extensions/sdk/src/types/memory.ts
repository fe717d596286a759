/**
 * The shape of an agent's memories: `interface Memory { history: …; knowledge: …; plan: … }`, each optional.
 * `history` and `knowledge` name the data of an item, or, as an object type, the data of each variant.
 */
export interface MemoryShape {
  history?: unknown;
  knowledge?: unknown;
  plan?: unknown;
}

/** A part of the shape; anything where the shape leaves it out. */
export type PartOf<Memory, Part extends keyof MemoryShape> = Memory extends { [P in Part]: infer Shape }
  ? Shape
  : Untyped;

// oxlint-disable-next-line typescript/no-explicit-any -- an agent without a memory type works with whatever it wrote
export type Untyped = any;

/** The data of one variant: the shape's own field of that name, else the shape itself. */
export type DataOf<Shape, Variant> = Variant extends keyof Shape ? Shape[Variant] : Shape;

export type Operator = "eq" | "ne" | "in" | "gt" | "gte" | "lt" | "lte" | "contains";
export type SearchMode = "auto" | "text" | "vector" | "hybrid";
/** Milliseconds since 1970, an age such as "7d", or a date. */
export type When = number | string | Date;

export interface HistoryItem<Data = Untyped> {
  readonly id: string;
  readonly variant: string;
  readonly timestamp: string;
  readonly data: Data;
}

/** A question to temporal memory. Each step returns the same query; `collect` or `count` sends it. */
export interface HistoryQuery<Data = Untyped> {
  variant(variant: string): HistoryQuery<Data>;
  /** From then on. */
  since(when: When): HistoryQuery<Data>;
  between(from: When, until: When): HistoryQuery<Data>;
  /** Full text, in one field of the data. */
  whereText(field: string, match: string): HistoryQuery<Data>;
  /** `field` is dotted: "a.b.c". */
  where(field: string, op: Operator, value: unknown): HistoryQuery<Data>;
  whereField(field: string, value: unknown): HistoryQuery<Data>;
  /** Default "desc": newest first. */
  orderByTime(order: "asc" | "desc"): HistoryQuery<Data>;
  /** Default 100, at most 1,000. */
  limit(count: number): HistoryQuery<Data>;
  collect(): Promise<HistoryItem<Data>[]>;
  count(): Promise<number>;
}

/** Temporal memory: what happened, by time. */
export interface History<Shape = Untyped> {
  /** The new item's id. */
  append<Variant extends string>(
    variant: Variant,
    data: DataOf<Shape, Variant>,
    options?: { readonly timestamp?: string | Date },
  ): Promise<string>;
  query(): HistoryQuery<Shape>;
}

export interface Relation {
  readonly to: string;
  /** RelatedTo, Updates, Contradicts, CausedBy, PartOf, or the agent's own. */
  readonly relation: string;
}

export interface KnowledgeOptions {
  /** What is embedded and searched; default: the data's own text. */
  readonly text?: string;
  readonly embedding?: readonly number[];
  /** 0 to 1. */
  readonly importance?: number;
  readonly relations?: readonly Relation[];
}

export interface KnowledgeItem<Data = Untyped> {
  readonly id: string;
  readonly variant: string;
  readonly data: Data;
  readonly text?: string;
  readonly similarity?: number;
  readonly importance: number;
  readonly relations: readonly Relation[];
  /** False: not embedded yet, found by text only. */
  readonly embedded: boolean;
}

/** A question to associative memory. Each step returns the same query; `collect` sends it. */
export interface KnowledgeQuery<Data = Untyped> {
  similarTo(text: string): KnowledgeQuery<Data>;
  similarToEmbedding(embedding: readonly number[]): KnowledgeQuery<Data>;
  variant(variant: string): KnowledgeQuery<Data>;
  where(field: string, op: Operator, value: unknown): KnowledgeQuery<Data>;
  whereField(field: string, value: unknown): KnowledgeQuery<Data>;
  /** Within `km` of [latitude, longitude]. */
  near(field: string, position: readonly [number, number], km: number): KnowledgeQuery<Data>;
  relatedTo(id: string, depth?: number): KnowledgeQuery<Data>;
  minSimilarity(similarity: number): KnowledgeQuery<Data>;
  /** Default 10. */
  topK(count: number): KnowledgeQuery<Data>;
  collect(): Promise<KnowledgeItem<Data>[]>;
}

/** Associative memory: what is known, by meaning and relation. */
export interface Knowledge<Shape = Untyped> {
  /** The new item's id. */
  add<Variant extends string>(
    variant: Variant,
    data: DataOf<Shape, Variant>,
    options?: KnowledgeOptions,
  ): Promise<string>;
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

export interface SearchHit {
  readonly id: string;
  readonly kind: string;
  readonly score: number;
  readonly [field: string]: unknown;
}

export interface AgentMemory<Memory = MemoryShape> {
  readonly history: History<PartOf<Memory, "history">>;
  readonly knowledge: Knowledge<PartOf<Memory, "knowledge">>;
  readonly plan: Plan<PartOf<Memory, "plan">>;
  search(
    text: string,
    options?: { readonly mode?: SearchMode; readonly limit?: number },
  ): Promise<SearchHit[]>;
  /** Resolves when everything written so far survives a power cut. */
  sync(): Promise<void>;
  cleanup(options: { readonly retentionDays: number }): Promise<void>;
  /** The same memories in a shared namespace that was granted. */
  in(namespace: string): AgentMemory<Memory>;
}
