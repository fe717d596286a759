import { existsSync, lstatSync, statSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { isLaresError, LaresError } from "../../base/errors.ts";
import type { Migration, SqlValue, Statement, StatementResult } from "./database.ts";
import { damagedDatabase, databaseError, failureOf } from "./database-errors.ts";
import type { DatabaseJob, DatabaseOutcome } from "./database-messages.ts";
import { breakSeal, sealDatabase } from "./database-seal.ts";
import { failpoint } from "../failpoint.ts";
import { storageFailure } from "../files/storage-failure.ts";

const inMemory = ":memory:";

/** Prepared statements that are cached; the least recently used is evicted. */
const maxPreparedStatements = 256;
/** How long SQLite waits for a lock of another process. */
const lockTimeoutMs = 5_000;

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
  /** True if the last process did not close the file; the whole file was then checked. */
  readonly checkedAfterCrash: boolean;

  constructor(path: string, migrations: readonly Migration[]) {
    this.#path = path;
    this.checkedAfterCrash = wasLeftOpen(path);
    let database: DatabaseSync | undefined;
    try {
      if (path !== inMemory) checkPlace(path, this.checkedAfterCrash);
      database = new DatabaseSync(path, { timeout: lockTimeoutMs });
      this.#database = database;
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF");
      if (this.checkedAfterCrash) this.#check();
      this.#migrate(migrations);
    } catch (error) {
      if (database?.isOpen === true) database.close();
      throw isLaresError(error) || "errcode" in (error as object)
        ? databaseError(error, path)
        : storageFailure(`The database "${path}" cannot be opened`, error);
    }
  }

  /** Runs the jobs in order, in one transaction if any of them writes. Returns one outcome per job. */
  run(jobs: readonly DatabaseJob[]): DatabaseOutcome[] {
    const writes = jobs.filter((job) => job.kind === "batch");
    if (writes.length === 0) return jobs.map((job) => this.#attempt(job));
    try {
      this.#setSynchronous(writes.some((job) => job.power) ? "FULL" : "NORMAL");
      this.#database.exec("BEGIN IMMEDIATE");
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
    // If another process has it open, or the log could not be emptied, the file alone is not the whole database.
    if (this.#path !== inMemory && !existsSync(`${this.#path}-wal`)) sealDatabase(this.#path);
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
    const findings = this.#database.prepare("PRAGMA quick_check(3)").all();
    const first = Object.values(findings[0] ?? {})[0];
    if (first !== "ok")
      throw damagedDatabase(this.#path, findings.map((row) => Object.values(row)[0]).join("; "));
  }

  #migrate(migrations: readonly Migration[]): void {
    this.#database.exec(
      "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID",
    );
    const applied = new Set(
      this.#database
        .prepare("SELECT name FROM migrations")
        .all()
        .map((row) => row["name"]),
    );
    for (const { name, sql } of migrations) {
      if (applied.has(name)) continue;
      this.#database.exec("BEGIN IMMEDIATE");
      try {
        this.#database.exec(sql);
        this.#database.prepare("INSERT INTO migrations (name) VALUES (?)").run(name satisfies SqlValue);
        failpoint("database.migration.executed");
        this.#database.exec("COMMIT");
        failpoint("database.migration.committed");
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
        throw error;
      }
    }
  }
}

/** A link, a folder or a pipe is refused; a closed database must be unchanged. */
function checkPlace(path: string, wasOpen: boolean): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw damagedDatabase(path, "it is not a regular file");
  if (!wasOpen) breakSeal(path);
}

/** A clean close removes the write-ahead log. */
function wasLeftOpen(path: string): boolean {
  const log = `${path}-wal`;
  return path !== inMemory && existsSync(log) && statSync(log).size > 0;
}
