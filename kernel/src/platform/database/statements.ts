export type SqlValue = string | number | bigint | null | Uint8Array;

export interface Statement {
  readonly sql: string;
  readonly params?: readonly SqlValue[];
  /**
   * Instead of `params`: runs the statement once for each of these rows, in order. A JSON array of arrays of
   * strings, numbers and nulls, as text, because that crosses to the database's thread faster than the values.
   */
  readonly rows?: string;
  /** Rolls the batch back with LaresError("Conflict") unless exactly this many rows changed. */
  readonly expectChanges?: number;
}

/** Applied once per database, in order, each in its own transaction; recorded in table `migrations`. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

export interface StatementResult {
  /** Changed rows; for a statement that returns rows (SELECT, RETURNING), their number. */
  readonly changes: number;
  readonly lastInsertRowid: number;
  readonly rows: readonly Record<string, SqlValue>[];
}
