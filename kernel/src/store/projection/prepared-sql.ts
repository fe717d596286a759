import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

/** Prepares each statement of a database once. Their number is limited, because values are parameters. */
export class PreparedSql {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  run(sql: string, ...params: SQLInputValue[]): void {
    this.#prepare(sql).run(...params);
  }

  row(sql: string, ...params: SQLInputValue[]): Record<string, unknown> | undefined {
    return this.#prepare(sql).get(...params);
  }

  rows(sql: string, ...params: SQLInputValue[]): Record<string, unknown>[] {
    return this.#prepare(sql).all(...params);
  }

  /** Forgets the statements, before a table that they use is dropped. */
  clear(): void {
    this.#prepared.clear();
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }
}
