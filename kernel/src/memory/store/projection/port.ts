import type { JsonValue } from "../../../base/json.ts";
import type { ChainEnd, RecordKind, RecordOperation } from "../../journal/record.ts";

/** A record of the journal as projections read it. Proven when the kernel opened the journal, not again here. */
export interface JournalRecord {
  readonly seq: number;
  /** When it was written down, milliseconds since 1970. */
  readonly writtenMs: number;
  readonly operation: RecordOperation;
  readonly kind: RecordKind;
  readonly id: string;
  /** Null where it was redacted: there is nothing left to project. */
  readonly data: JsonValue | null;
}

/**
 * What the records' `data` says, by kind and operation. An event or an item is known in every projection by its row:
 * the seq of the record that stored it (a positive integer, never used again).
 */
export interface TemporalStored {
  readonly variant: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly timestamp: string;
  readonly data: JsonValue;
}
/** kind knowledge, operation store. */
export interface KnowledgeStored {
  readonly variant: string;
  readonly data: JsonValue;
  readonly text?: string;
  readonly importance?: number;
  readonly relations?: readonly { readonly to: string; readonly relation: string }[];
  /** An embedding the agent brought: little-endian f32, base64. What an embedder made is no truth and not in here. */
  readonly embedding_f32?: string;
}
/** kind knowledge, operation update: the fields that change, or one relation that is added. */
export type KnowledgeUpdated =
  | Partial<Omit<KnowledgeStored, "relations">>
  | { readonly relate: { readonly to: string; readonly relation: string } };
/** kind knowledge or temporal, operation delete: `{}`; the id is the record's. */
/** operation redact, of any kind: what these records said is gone from the journal, and so from every projection. */
export interface Redacted {
  /** Inclusive, ascending, not overlapping. */
  readonly seqs: readonly (readonly [first: number, last: number])[];
  readonly reason: string;
}

/** SQL of one memory's DuckDB file. Table names are bare; the file's schema is the current one. */
export interface Sql {
  run(sql: string, params?: readonly SqlValue[]): Promise<void>;
  all<Row extends object>(sql: string, params?: readonly SqlValue[]): Promise<Row[]>;
  /** Many rows at once, columns in the table's order. */
  append(table: string, rows: readonly (readonly SqlValue[])[]): Promise<void>;
}
export type SqlValue = string | number | bigint | boolean | null | Uint8Array;

/** Tables of one concern in a memory's DuckDB file. All groups see a batch in the same transaction. */
export interface TableGroup {
  /** Counted up when `create` changes: an older file is built again. */
  readonly version: number;
  create(sql: Sql): Promise<void>;
  apply(sql: Sql, records: readonly JournalRecord[]): Promise<void>;
}

/** Full text (FTS5 in `text.sqlite`) of events and items. What a person writes is words to it, never syntax. */
export interface TextIndex {
  readonly watermark: ChainEnd;
  /** One transaction. */
  apply(records: readonly JournalRecord[], end: ChainEnd): void;
  /** Best first by BM25; `score` above 0, higher is better. Any of the words; all of them count for more. */
  best(kind: TextKind, words: string, limit: number): { readonly row: number; readonly score: number }[];
  /**
   * Rows in which all the words stand (in `field` of the data or beneath it, where one is given), from the newest
   * appended to the oldest or the other way, between `afterRow` and `beforeRow`. No words: no rows.
   */
  matching(
    kind: TextKind,
    words: string,
    options: {
      readonly field?: string;
      readonly beforeRow?: number;
      readonly afterRow?: number;
      readonly order?: "newest" | "oldest";
      readonly limit: number;
    },
  ): number[];
  /** How many rows there are in which all the words stand; no further than to `atMost`. */
  count(
    kind: TextKind,
    words: string,
    options?: { readonly field?: string; readonly atMost?: number },
  ): number;
  /** All of these rows, in any order, with commas between them: for another database, which reads that fastest. */
  rows(kind: TextKind, words: string, options?: { readonly field?: string }): string;
  close(): void;
}
export type TextKind = "temporal" | "knowledge";
