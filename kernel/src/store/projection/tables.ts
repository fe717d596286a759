import { storageError } from "../../base/errors.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { type ChainEnd, chainStart } from "../../memory-contract/records.ts";
import type { DuckFile } from "./duck-file.ts";
import type { Duck } from "./duck.ts";
import type { Follower } from "./follower.ts";
import type { JournalRecord, Sql, TableGroup } from "./port.ts";

/** A memory's table groups by name; its file stores their versions. */
export type TableGroups = Readonly<Record<string, TableGroup>>;

/** One memory's DuckDB file. All its table groups apply a batch in one transaction, and so does the watermark. */
export class Tables implements Follower, AsyncDisposable {
  readonly file: DuckFile;
  /** True if nothing was redacted since the last check whether a purge is due. */
  isPurgeChecked = false;
  readonly #groups: readonly TableGroup[];
  #watermark: ChainEnd;

  private constructor(file: DuckFile, groups: readonly TableGroup[], watermark: ChainEnd) {
    this.file = file;
    this.#groups = groups;
    this.#watermark = watermark;
  }

  /**
   * Opens or creates the file. Reads each block once, so that checksums reveal damage now and not in a query. Throws a
   * StorageError if it is damaged or of another version.
   */
  static async open(duck: Duck, path: string, groups: TableGroups): Promise<Tables> {
    const file = await duck.attach(path);
    try {
      const versions = JSON.stringify(Object.entries(groups).map(([name, { version }]) => [name, version]));
      const names = await tableNames(file);
      if (names.length === 0) await file.transaction((sql) => create(sql, groups, versions));
      else await readThrough(file, names);
      return new Tables(file, Object.values(groups), await readWatermark(file, versions));
    } catch (error) {
      await file[Symbol.asyncDispose]();
      throw error;
    }
  }

  get watermark(): ChainEnd {
    return this.#watermark;
  }

  async apply(records: readonly JournalRecord[], end: ChainEnd): Promise<void> {
    failpoint("store.tables.begun");
    await this.file.transaction(async (sql) => {
      if (records.length > 0) for (const group of this.#groups) await group.apply(sql, records);
      await sql.run("UPDATE lares_projection SET seq = ?, hash = ?", [end.seq, end.hash]);
      failpoint("store.tables.applied");
    });
    this.#watermark = end;
    if (records.some(({ operation }) => operation === "redact")) this.isPurgeChecked = false;
    failpoint("store.tables.committed");
  }

  /** Writes the log into the file and detaches it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.file[Symbol.asyncDispose]();
    failpoint("store.tables.closed");
  }
}

async function create(sql: Sql, groups: TableGroups, versions: string): Promise<void> {
  for (const group of Object.values(groups)) await group.create(sql);
  await sql.run("CREATE TABLE lares_projection (versions VARCHAR, seq BIGINT, hash VARCHAR)");
  await sql.run("INSERT INTO lares_projection VALUES (?, ?, ?)", [versions, chainStart.seq, chainStart.hash]);
}

async function tableNames(sql: Sql): Promise<string[]> {
  const tables = await sql.all<{ name: string }>(
    "SELECT table_name AS name FROM duckdb_tables() WHERE database_name = current_database() AND schema_name = 'main'",
  );
  return tables.map(({ name }) => name);
}

async function readThrough(sql: Sql, tables: readonly string[]): Promise<void> {
  for (const table of tables) {
    await sql.all(
      `SELECT CAST(bit_xor(hash(t)) AS VARCHAR) AS digest FROM "${table.replaceAll('"', '""')}" t`,
    );
  }
}

async function readWatermark(file: DuckFile, versions: string): Promise<ChainEnd> {
  const names = await tableNames(file);
  if (!names.includes("lares_projection")) throw storageError(`"${file.path}" is not a projection.`);
  const rows = await file.all<{ versions: string; seq: number; hash: string }>(
    "SELECT versions, seq, hash FROM lares_projection",
  );
  const [row] = rows;
  if (row === undefined || rows.length > 1) throw storageError(`"${file.path}" has no watermark.`);
  if (row.versions !== versions) throw storageError(`"${file.path}" was created by another version.`);
  return { seq: row.seq, hash: row.hash };
}
