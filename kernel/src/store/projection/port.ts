import type { JsonValue } from "../../base/json.ts";
import type { ChainEnd, RecordKind, RecordOperation } from "../../memory-contract/records.ts";

/**
 * A record of the journal as projections read it. The kernel proved it when it opened the journal; it is not proven
 * again here.
 */
export interface JournalRecord {
  readonly seq: number;
  /** When it was written, milliseconds since 1970. */
  readonly writtenMs: number;
  readonly operation: RecordOperation;
  readonly kind: RecordKind;
  readonly id: string;
  /** Null if it was redacted: there is nothing left to project. */
  readonly data: JsonValue | null;
}

/** SQL on one memory's DuckDB file. Table names are bare; the file's schema is the current one. */
export interface Sql {
  run(sql: string, params?: readonly SqlValue[]): Promise<void>;
  all<Row extends object>(sql: string, params?: readonly SqlValue[]): Promise<Row[]>;
  /** Appends many rows at once; columns are in the table's order. */
  append(table: string, rows: readonly (readonly SqlValue[])[]): Promise<void>;
}
export type SqlValue = string | number | bigint | boolean | null | Uint8Array;

/** Tables for one subject in a memory's DuckDB file. All groups apply a batch in the same transaction. */
export interface TableGroup {
  /** Has to be increased when `create` changes: older files are rebuilt. */
  readonly version: number;
  create(sql: Sql): Promise<void>;
  apply(sql: Sql, records: readonly JournalRecord[]): Promise<void>;
}

/** Full text (FTS5 in `text.sqlite`) of events and items. A person's text is treated as words, never as syntax. */
export interface TextIndex {
  readonly watermark: ChainEnd;
  /** Applies the records in one transaction. */
  apply(records: readonly JournalRecord[], end: ChainEnd): void;
  /**
   * Returns the best rows by BM25 over stems; `score` is above 0, higher is better. A row matches with any of the
   * words. All words, a requested time and, in part, the texts of the rows before and after it raise its score.
   */
  best(
    kind: TextKind,
    words: string,
    options: {
      readonly limit: number;
      readonly times?: readonly TimeSpan[];
      /** True: ignores the neighbouring rows. */
      readonly isAlone?: boolean;
    },
  ): { readonly row: number; readonly score: number }[];
  /**
   * Returns the rows before and after each of these in its source, at most two steps away. Rows without neighbours are
   * left out.
   */
  neighbours(rows: readonly number[]): ReadonlyMap<number, readonly Neighbour[]>;
  /** Returns the fraction of the words, 0 to 1, that do not occur in any row of the kind; 0 without words. */
  unknownPart(kind: TextKind, words: string): number;
  /** Returns the fraction of the words, 0 to 1, that occur in no row of the kind; 0 without words. */
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
  /** Returns the number of rows that contain all the words; stops counting at `atMost`. */
  count(
    kind: TextKind,
    words: string,
    options?: { readonly field?: string; readonly atMost?: number },
  ): number;
  /** Returns all of these rows in any order, separated by commas, which is what another database reads fastest. */
  rows(kind: TextKind, words: string, options?: { readonly field?: string }): string;
  close(): void;
}
/** Milliseconds since 1970; `fromMs` inclusive, `untilMs` exclusive. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface Neighbour {
  readonly row: number;
  /** 1 for the next row, 2 for the one after it. */
  readonly steps: number;
}

export type TextKind = "temporal" | "knowledge";
