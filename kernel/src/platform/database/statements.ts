export type SqlValue = string | number | bigint | null | Uint8Array;

export interface Statement {
  readonly sql: string;
  readonly params?: readonly SqlValue[];
  /**
   * Instead of `params`: the statement is carried out once for each of these, in order. Text, a JSON array of arrays
   * of strings, numbers and nulls: it crosses to the database's thread faster than the values would.
   */
  readonly rows?: string;
  /** The batch is rolled back with LaresError("Conflict") unless exactly this many rows changed. */
  readonly expectChanges?: number;
}

/** Applied once per database, in the order given, each in a transaction of its own; recorded in table `migrations`. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

export interface StatementResult {
  /** Rows changed; for a statement that returns rows (SELECT, RETURNING), how many it returned. */
  readonly changes: number;
  readonly lastInsertRowid: number;
  readonly rows: readonly Record<string, SqlValue>[];
}
