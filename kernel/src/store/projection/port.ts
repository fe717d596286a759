import type { JsonValue } from "../../base/json.ts";
import type { ChainEnd, RecordKind, RecordOperation } from "../../memory-contract/records.ts";

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
  /**
   * Best first by BM25 over stems; `score` above 0, higher is better. Any of the words; all of them count for more, and
   * so do a time that was asked for and, in part, what the rows just before and after it say.
   */
  best(
    kind: TextKind,
    words: string,
    options: {
      readonly limit: number;
      readonly times?: readonly TimeSpan[];
      /** Only rows by what they say themselves. */
      readonly isAlone?: boolean;
    },
  ): { readonly row: number; readonly score: number }[];
  /** Rows just before and after each of these in its source, at most two steps away. A row without any is left out. */
  neighbours(rows: readonly number[]): ReadonlyMap<number, readonly Neighbour[]>;
  /** Returns the fraction of the words, 0 to 1, that do not occur in any row of the kind; 0 without words. */
  unknownPart(kind: TextKind, words: string): number;
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
/** Milliseconds since 1970; `fromMs` included, `untilMs` not. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface Neighbour {
  readonly row: number;
  /** 1 for the next one, 2 for the one after it. */
  readonly steps: number;
}

export type TextKind = "temporal" | "knowledge";
