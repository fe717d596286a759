import type { JsonValue } from "../base/json.ts";

export type RecordOperation = "store" | "update" | "delete" | "redact";

/** The kinds of records in a memory's journal. */
export const recordKinds = ["temporal", "knowledge", "working", "policy"] as const;
export type RecordKind = (typeof recordKinds)[number];

/** The end of a chain: the last record's number and hash (64 hexadecimal digits). */
export interface ChainEnd {
  readonly seq: number;
  readonly hash: string;
}

/** The chain's state before the first record. */
export const chainStart: ChainEnd = { seq: 0, hash: "0".repeat(64) };

export const maxIdLength = 256;
/** Maximum bytes of a record's line, including the line feed: 1 MiB of data, the id and the fixed fields. */
export const maxLineBytes = 1024 * 1024 + 4096;

/**
 * The `data` of records, by kind and operation. Projections identify an event or an item by its row: the seq of the
 * record that stored it (a positive integer, never reused).
 */
export interface TemporalStored extends StoredPlace {
  readonly variant: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly timestamp: string;
  readonly data: JsonValue;
}
/** The position of an event or an item among its neighbours. */
interface StoredPlace {
  /** Texts that nobody vouches for and that the writer had read, by where they come from; see `Foreign`. Updates too. */
  readonly foreign?: JsonValue;
  /** The conversation or file that the row belongs to. Rows without one are grouped by the time they were appended. */
  readonly source?: string;
  /** Its position there; without one, the order is by time. */
  readonly position?: number;
}
/** Kind knowledge, operation store. */
interface KnowledgeStored extends StoredPlace {
  readonly variant: string;
  /** When it was said or happened, ISO 8601, UTC, milliseconds; without one, the time of writing counts. */
  readonly timestamp?: string;
  readonly data: JsonValue;
  readonly text?: string;
  readonly importance?: number;
  readonly relations?: readonly { readonly to: string; readonly relation: string }[];
  /**
   * An embedding that the agent brought: little-endian f32, base64. An embedder's vectors are derived data and not in
   * the journal.
   */
  readonly embedding_f32?: string;
}
/** Kind knowledge, operation update: the fields that change, or one relation that is added. */
export type KnowledgeUpdated =
  | Partial<Omit<KnowledgeStored, "relations" | "timestamp" | keyof StoredPlace>>
  | { readonly relate: { readonly to: string; readonly relation: string } };
/** kind knowledge or temporal, operation delete: `{}`; the id is the record's. */
/**
 * Operation redact, of any kind: the data of these records was removed from the journal, and so from every projection.
 */
export interface Redacted {
  /** Inclusive, ascending, not overlapping. */
  readonly seqs: readonly (readonly [first: number, last: number])[];
  readonly reason: string;
}
