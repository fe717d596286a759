import {
  type DuckDBAppender,
  DuckDBBlobValue,
  type DuckDBConnection,
  DuckDBDataChunk,
  type DuckDBPreparedStatement,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
} from "@duckdb/node-api";
import { messageOf, storageError } from "../../base/errors.ts";
import type { Sql, SqlValue } from "./port.ts";

/** Maximum prepared statements for one file; the least recently used one is closed first. */
const maxPreparedStatements = 64;
/** Rows of a chunk, in which DuckDB takes many rows at once. */
const rowsPerChunk = 2048;

interface DuckFileOptions {
  readonly path: string;
  /** The name under which the file is attached: letters, digits and underscores. */
  readonly name: string;
  /** Called before each statement; an error that it throws becomes the statement's result. */
  begins(): void;
  /** Called with every error of DuckDB. */
  failed(error: unknown): void;
  closed(): void;
}

/**
 * One memory's attached file. Statements run in the order of their calls. During a transaction all other statements
 * wait for its end; within it, use the given `Sql`. Errors are StorageErrors.
 */
export class DuckFile implements Sql, AsyncDisposable {
  readonly path: string;
  readonly name: string;
  readonly #connection: DuckDBConnection;
  readonly #options: DuckFileOptions;
  readonly #session: Session;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(connection: DuckDBConnection, options: DuckFileOptions) {
    this.path = options.path;
    this.name = options.name;
    this.#connection = connection;
    this.#options = options;
    this.#session = new Session(connection, options);
  }

  run(sql: string, params?: readonly SqlValue[]): Promise<void> {
    return this.#inTurn(() => this.#session.run(sql, params));
  }

  all<Row extends object>(sql: string, params?: readonly SqlValue[]): Promise<Row[]> {
    return this.#inTurn(() => this.#session.all<Row>(sql, params));
  }

  append(table: string, rows: readonly (readonly SqlValue[])[]): Promise<void> {
    return this.#inTurn(() => this.#session.append(table, rows));
  }

  /**
   * Runs the work in one transaction. After a StorageError from the commit, only the file shows whether the transaction
   * took effect.
   */
  transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return this.#inTurn(async () => {
      await this.#session.run("BEGIN TRANSACTION");
      let result: Result;
      try {
        result = await work(this.#session);
      } catch (error) {
        await this.#session.run("ROLLBACK").catch(() => undefined);
        throw error;
      }
      await this.#session.run("COMMIT");
      return result;
    });
  }

  /** Writes the log beside the file into the file. */
  checkpoint(): Promise<void> {
    return this.run(`CHECKPOINT ${this.name}`);
  }

  /** Detaches the file, which writes its log into it. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    const closed = this.#inTurn(async () => {
      this.#session.forget();
      try {
        await this.#connection.run("USE memory");
        await this.#connection.run(`DETACH ${this.name}`);
      } catch (error) {
        // The log is still beside the file, and is read when the file is next opened.
        throw storageError(`"${this.path}" could not be closed as it should be: ${messageOf(error)}`, error);
      } finally {
        this.#connection.closeSync();
        this.#options.closed();
      }
    });
    this.#isClosed = true;
    await closed;
  }

  /** Closes the connections without writing the log into the file, because DuckDB itself has failed. */
  async abandon(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
    this.#session.forget();
    this.#connection.closeSync();
    this.#options.closed();
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw storageError(`"${this.path}" is closed.`);
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

/** A connection whose current database is one file. */
class Session implements Sql {
  readonly #connection: DuckDBConnection;
  readonly #options: DuckFileOptions;
  readonly #prepared = new Map<string, DuckDBPreparedStatement>();

  constructor(connection: DuckDBConnection, options: DuckFileOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  async run(sql: string, params: readonly SqlValue[] = []): Promise<void> {
    await this.#guarded(async () => {
      // A text without parameters is rarely repeated, and may contain several statements. It is not prepared.
      if (params.length === 0) await this.#connection.run(sql);
      else await (await this.#bound(sql, params)).run();
    });
  }

  all<Row extends object>(sql: string, params: readonly SqlValue[] = []): Promise<Row[]> {
    return this.#guarded(async () => {
      const result = await (await this.#bound(sql, params)).run();
      const names = result.deduplicatedColumnNames();
      const rows: Row[] = [];
      for (const chunk of await result.fetchAllChunks()) {
        const columns = chunk.getColumns();
        for (let at = 0; at < chunk.rowCount; at++) {
          const row: Record<string, SqlValue | undefined> = {};
          names.forEach((name, column) => {
            row[name] = fromDuck(columns[column]?.[at] ?? null);
          });
          rows.push(row as Row);
        }
      }
      return rows;
    });
  }

  append(table: string, rows: readonly (readonly SqlValue[])[]): Promise<void> {
    return this.#guarded(async () => {
      if (rows.length === 0) return;
      const appender = await this.#connection.createAppender(table);
      try {
        const types = Array.from({ length: appender.columnCount }, (_, column) =>
          appender.columnType(column),
        );
        for (let at = 0; at < rows.length; at += rowsPerChunk) {
          appendChunk(appender, types, rows.slice(at, at + rowsPerChunk));
        }
        appender.flushSync();
      } finally {
        appender.closeSync();
      }
    });
  }

  /** Closes the prepared statements. */
  forget(): void {
    for (const statement of this.#prepared.values()) statement.destroySync();
    this.#prepared.clear();
  }

  async #bound(sql: string, params: readonly SqlValue[]): Promise<DuckDBPreparedStatement> {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) statement = await this.#connection.prepare(sql);
    else this.#prepared.delete(sql);
    this.#prepared.set(sql, statement);
    if (this.#prepared.size > maxPreparedStatements) {
      const [oldest] = this.#prepared.keys();
      if (oldest !== undefined) {
        this.#prepared.get(oldest)?.destroySync();
        this.#prepared.delete(oldest);
      }
    }
    params.forEach((value, index) => bind(statement, index + 1, value));
    return statement;
  }

  async #guarded<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#options.begins();
    try {
      return await work();
    } catch (error) {
      this.#options.failed(error);
      throw storageError(`"${this.#options.path}": ${messageOf(error)}`, error);
    }
  }
}

function appendChunk(
  appender: DuckDBAppender,
  types: readonly DuckDBType[],
  rows: readonly (readonly SqlValue[])[],
): void {
  const chunk = DuckDBDataChunk.create(types, rows.length);
  types.forEach((type, column) => {
    const isBig = type.typeId === DuckDBTypeId.BIGINT;
    const values: DuckDBValue[] = Array.from({ length: rows.length });
    for (let at = 0; at < rows.length; at++) {
      const value = rows[at]?.[column] ?? null;
      values[at] = isBig && typeof value === "number" ? BigInt(value) : toDuck(value);
    }
    chunk.setColumnValues(column, values);
  });
  appender.appendDataChunk(chunk);
}

const toDuck = (value: SqlValue): DuckDBValue =>
  value instanceof Uint8Array ? new DuckDBBlobValue(value) : value;

/** Whole numbers are BIGINT, all others DOUBLE, whatever type DuckDB would infer. */
function bind(statement: DuckDBPreparedStatement, index: number, value: SqlValue): void {
  if (value === null) statement.bindNull(index);
  else if (typeof value === "string") statement.bindVarchar(index, value);
  else if (typeof value === "boolean") statement.bindBoolean(index, value);
  else if (typeof value === "bigint") statement.bindBigInt(index, value);
  else if (value instanceof Uint8Array) statement.bindBlob(index, value);
  else if (Number.isSafeInteger(value)) statement.bindBigInt(index, BigInt(value));
  else statement.bindDouble(index, value);
}

/** Returns big integers that a number represents exactly as numbers. */
function fromDuck(value: DuckDBValue): SqlValue {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }
  if (value === null || typeof value !== "object") return value;
  // A copy that starts at its own offset 0, so that numbers can be read from it in place.
  if (value instanceof DuckDBBlobValue) return new Uint8Array(value.bytes);
  throw new TypeError("A column has a type that Sql does not speak: cast it to text, number or bytes.");
}
