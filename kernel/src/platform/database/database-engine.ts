import { basename } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { isLaresError, LaresError } from "../../base/errors.ts";
import type { Migration, SqlValue, Statement, StatementResult } from "./database.ts";
import { damagedDatabase, databaseError, failureOf } from "./database-errors.ts";
import { findDamage, inMemory, type FileOwnership, SoleOwnership } from "./database-files.ts";
import type { DatabaseJob, DatabaseOutcome } from "./database-messages.ts";
import { failpoint } from "../failpoint.ts";
import { storageFailure } from "../files/storage-failure.ts";
import { addNearest } from "./similarity.ts";

/** Prepared statements that are cached; the least recently used is evicted. */
const maxPreparedStatements = 256;

interface Prepared {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
}

/** SQLite itself, synchronous, within the worker thread. Throws only LaresErrors. */
export class DatabaseEngine implements Disposable {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, Prepared>();
  #synchronous: "NORMAL" | "FULL" = "NORMAL";
  readonly #ownership: FileOwnership;
  readonly #migrationCount: number;

  constructor(
    path: string,
    migrations: readonly Migration[],
    ownership: FileOwnership = new SoleOwnership(path),
  ) {
    this.#path = path;
    this.#ownership = ownership;
    this.#migrationCount = migrations.length;
    let database: DatabaseSync | undefined;
    try {
      if (path !== inMemory) ownership.prepare();
      database = new DatabaseSync(path, { timeout: ownership.lockTimeoutMs });
      this.#database = database;
      // Deleted content is overwritten, so that what a person had forgotten is in no free page.
      database.exec(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF; PRAGMA secure_delete = ON",
      );
      addNearest(database);
      if (ownership.checksOnOpen) this.#check();
      this.#migrate(migrations);
    } catch (error) {
      if (database?.isOpen === true) database.close();
      ownership.abandon();
      throw isLaresError(error) || "errcode" in (error as object)
        ? databaseError(error, path)
        : storageFailure(`The database "${path}" cannot be opened`, error);
    }
  }

  /** True if the last process did not close the file; the whole file was then checked. */
  get checkedAfterCrash(): boolean {
    return this.#ownership.wasLeftOpen;
  }

  /** Runs the jobs in order, in one transaction if any of them writes. Returns one outcome per job. */
  run(jobs: readonly DatabaseJob[]): DatabaseOutcome[] {
    const writes = jobs.filter((job) => job.kind === "batch");
    try {
      if (writes.length === 0) {
        this.#refuseNewerSchema();
        return jobs.map((job) => this.#attempt(job));
      }
      this.#setSynchronous(writes.some((job) => job.power) ? "FULL" : "NORMAL");
      this.#database.exec("BEGIN IMMEDIATE");
      // Inside the transaction: from here on no other process can migrate.
      this.#refuseNewerSchema();
      failpoint("database.group.begun");
      const outcomes = jobs.map((job) => this.#attempt(job));
      failpoint("database.group.executed");
      this.#database.exec("COMMIT");
      failpoint("database.group.committed");
      return outcomes;
    } catch (error) {
      // The whole group is rolled back.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      const failure = failureOf(databaseError(error, this.#path));
      return jobs.map(() => ({ kind: "failed", failure }));
    }
  }

  [Symbol.dispose](): void {
    this.#prepared.clear();
    this.#database.close();
    if (this.#path !== inMemory) this.#ownership.closed();
  }

  /** Runs one job of a group. Throws only errors that end the whole group. */
  #attempt(job: DatabaseJob): DatabaseOutcome {
    if (job.kind === "query") {
      try {
        return { kind: "query", rows: this.#prepare(job.sql).statement.all(...job.params) };
      } catch (error) {
        return { kind: "failed", failure: failureOf(databaseError(error, this.#path)) };
      }
    }
    this.#database.exec("SAVEPOINT batch");
    try {
      const results = job.statements.map((statement) => this.#execute(statement));
      this.#database.exec("RELEASE batch");
      return { kind: "batch", results };
    } catch (error) {
      // After a full disk or a failed read, SQLite has rolled back the transaction itself.
      if (!this.#database.isTransaction) throw error;
      this.#database.exec("ROLLBACK TO batch; RELEASE batch");
      return { kind: "failed", failure: failureOf(databaseError(error, this.#path)) };
    }
  }

  #execute(statement: Statement): StatementResult {
    const { statement: prepared, returnsRows } = this.#prepare(statement.sql);
    const params = statement.params ?? [];
    let result: StatementResult;
    if (statement.rows !== undefined) {
      let changes = 0;
      for (const row of JSON.parse(statement.rows) as SqlValue[][])
        changes += Number(prepared.run(...row).changes);
      result = { changes, lastInsertRowid: 0, rows: [] };
    } else if (returnsRows) {
      const rows = prepared.all(...params);
      result = { changes: rows.length, lastInsertRowid: 0, rows };
    } else {
      const { changes, lastInsertRowid } = prepared.run(...params);
      result = { changes: Number(changes), lastInsertRowid: Number(lastInsertRowid), rows: [] };
    }
    const expected = statement.expectChanges;
    if (expected !== undefined && result.changes !== expected) {
      throw new LaresError(
        "Conflict",
        `The data was changed in the meantime: ${result.changes} rows matched where ${expected} were expected. Read again and retry.`,
        { changes: result.changes, expected },
      );
    }
    return result;
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql);
    if (known !== undefined) {
      this.#prepared.delete(sql);
      this.#prepared.set(sql, known);
      return known;
    }
    const statement = this.#database.prepare(sql);
    const prepared: Prepared = { statement, returnsRows: statement.columns().length > 0 };
    this.#prepared.set(sql, prepared);
    if (this.#prepared.size > maxPreparedStatements) {
      const [oldest] = this.#prepared.keys();
      if (oldest !== undefined) this.#prepared.delete(oldest);
    }
    return prepared;
  }

  /** Only outside a transaction; SQLite refuses it inside one. */
  #setSynchronous(level: "NORMAL" | "FULL"): void {
    if (level === this.#synchronous) return;
    this.#database.exec(`PRAGMA synchronous = ${level}`);
    this.#synchronous = level;
  }

  #check(): void {
    const finding = findDamage(this.#database);
    if (finding !== null) throw damagedDatabase(this.#path, finding);
  }

  /** Applies each missing migration in a transaction of its own, whichever process comes first. */
  #migrate(migrations: readonly Migration[]): void {
    for (;;) {
      this.#database.exec("BEGIN IMMEDIATE");
      try {
        // Read inside the transaction: another process may have migrated while this one waited for it.
        this.#database.exec(
          "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID",
        );
        const applied = this.#appliedMigrations();
        if (this.#ownership.isShared) this.#refuseUnknown(applied, migrations);
        const missing = migrations.find(({ name }) => !applied.includes(name));
        if (missing === undefined) {
          this.#database.exec("COMMIT");
          return;
        }
        this.#database.exec(missing.sql);
        this.#database.prepare("INSERT INTO migrations (name) VALUES (?)").run(missing.name);
        if (this.#ownership.isShared) this.#database.exec(`PRAGMA user_version = ${applied.length + 1}`);
        failpoint("database.migration.executed");
        this.#database.exec("COMMIT");
        failpoint("database.migration.committed");
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
        throw error;
      }
    }
  }

  #appliedMigrations(): string[] {
    return this.#database
      .prepare("SELECT name FROM migrations")
      .all()
      .map((row) => String(row["name"]));
  }

  #refuseUnknown(applied: readonly string[], known: readonly Migration[]): void {
    const unknown = applied.findLast((name) => !known.some((migration) => migration.name === name));
    if (unknown !== undefined) throw newerSchema(this.#path, `migration ${unknown}`);
  }

  /** Throws where another process, of a newer Lares, has migrated a shared file since this one opened it. */
  #refuseNewerSchema(): void {
    if (!this.#ownership.isShared) return;
    const version = Number(this.#prepare("PRAGMA user_version").statement.get()?.["user_version"] ?? 0);
    if (version > this.#migrationCount) throw newerSchema(this.#path, `schema ${version}`);
  }
}

function newerSchema(path: string, what: string): LaresError {
  return new LaresError(
    "StorageError",
    `${basename(path)} was written by a newer Lares (${what}). Update this Lares.`,
  );
}
