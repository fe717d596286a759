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
 * The data of an operation redact, of any kind: the data of these records was removed from the journal, and so from every
 * projection. What the others hold is what `memory/` writes of a call (`temporal.ts`, `knowledge.ts`); projections identify
 * an event or an item by its row: the seq of the record that stored it (a positive integer, never reused).
 */
export interface Redacted {
  /** Inclusive, ascending, not overlapping. */
  readonly seqs: readonly (readonly [first: number, last: number])[];
  readonly reason: string;
}
