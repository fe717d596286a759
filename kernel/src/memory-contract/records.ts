import type { JsonValue } from "../base/json.ts";

export type RecordOperation = "store" | "update" | "delete" | "redact";

/** The kinds of records that a memory's journal has. */
export const recordKinds = ["temporal", "knowledge", "working", "policy"] as const;
export type RecordKind = (typeof recordKinds)[number];

/** Where a chain ends: the last record's number and hash (64 hexadecimal digits). */
export interface ChainEnd {
  readonly seq: number;
  readonly hash: string;
}

/** Before the first record. */
export const chainStart: ChainEnd = { seq: 0, hash: "0".repeat(64) };

export const maxIdLength = 256;
/** A record's line, line feed included: 1 MiB of data, its id and the fixed fields. */
export const maxLineBytes = 1024 * 1024 + 4096;

/**
 * What the records' `data` says, by kind and operation. An event or an item is known in every projection by its row:
 * the seq of the record that stored it (a positive integer, never used again).
 */
export interface TemporalStored extends StoredPlace {
  readonly variant: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly timestamp: string;
  readonly data: JsonValue;
}
/** Where an event or an item stands among the others of its kind. */
interface StoredPlace {
  /** The conversation or file that the row belongs to. Rows without one are grouped by the time they were appended. */
  readonly source?: string;
  /** Its place there; without one: by time. */
  readonly position?: number;
}
/** kind knowledge, operation store. */
interface KnowledgeStored extends StoredPlace {
  readonly variant: string;
  /** When it was said or happened, ISO 8601, UTC, milliseconds; without one: when it was written down. */
  readonly timestamp?: string;
  readonly data: JsonValue;
  readonly text?: string;
  readonly importance?: number;
  readonly relations?: readonly { readonly to: string; readonly relation: string }[];
  /** An embedding the agent brought: little-endian f32, base64. What an embedder made is no truth and not in here. */
  readonly embedding_f32?: string;
}
/** kind knowledge, operation update: the fields that change, or one relation that is added. */
export type KnowledgeUpdated =
  | Partial<Omit<KnowledgeStored, "relations" | "timestamp" | keyof StoredPlace>>
  | { readonly relate: { readonly to: string; readonly relation: string } };
/** kind knowledge or temporal, operation delete: `{}`; the id is the record's. */
/** operation redact, of any kind: what these records said is gone from the journal, and so from every projection. */
export interface Redacted {
  /** Inclusive, ascending, not overlapping. */
  readonly seqs: readonly (readonly [first: number, last: number])[];
  readonly reason: string;
}
