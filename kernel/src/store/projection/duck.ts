import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { invalidParams, storageError, messageOf } from "../../base/errors.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { DuckFile } from "./duck-file.ts";
import { createPurge } from "./purge.ts";

/** What DuckDB may keep in memory, over all files; beyond it, it spills to `temporaryFolder`. */
const duckMemoryMb = 512;
/** Threads a query may use. The kernel and the sandbox want the processors too. */
const duckThreads = 2;
/**
 * A file's log is merged into it at this size. With DuckDB's default of 16 MB, commits cost four times the processor
 * time, because the last rows are compressed again each time. Reading a log of this size after a crash takes about a second.
 */
const duckLogMb = 64;
/** DuckDB may spill so much at most. */
const duckSpillMb = 2048;

interface DuckOptions {
  /** Absolute. Every file that is attached lies in or beneath it; DuckDB can reach nothing else. */
  readonly folder: string;
  /**
   * Called once when DuckDB has failed in itself: it answers nothing more, for no file, and the process is to end.
   * What was committed is there when the next one opens it.
   */
  broke?(error: Error): void;
}

/** The process's one DuckDB: two instances on one file lose data silently. */
export interface Duck extends AsyncDisposable {
  /**
   * Opens the file at an absolute path beneath `folder`, or makes it. Throws StorageError where it cannot be read as
   * one. A file is to be attached once at a time.
   */
  attach(path: string): Promise<DuckFile>;
  /**
   * Rewrites a file that is not attached with its remaining rows and nothing else; see `purge.ts`. Throws
   * StorageError, and then leaves the file as it was.
   */
  rewrite(path: string): Promise<void>;
}

let isOpen = false;

/** Throws StorageError where DuckDB cannot start. There can be one in a process. */
export async function openDuck({ folder, broke }: DuckOptions): Promise<Duck> {
  if (isOpen) throw storageError("DuckDB is open in this process already; two would lose data.");
  if (!isAbsolute(folder)) throw invalidParams(`"${folder}" is no absolute path.`);
  isOpen = true;
  try {
    // What an earlier process spilled may hold what has been forgotten since.
    const spillFolder = join(folder, "duckdb.spill");
    rmSync(spillFolder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    return new OneDuck(await startInstance(folder, spillFolder), spillFolder, broke ?? (() => undefined));
  } catch (error) {
    isOpen = false;
    throw storageError(`DuckDB does not start: ${messageOf(error)}`, error);
  }
}

class OneDuck implements Duck {
  readonly #instance: DuckDBInstance;
  readonly #spillFolder: string;
  readonly #files = new Set<DuckFile>();
  readonly #broke: (error: Error) => void;
  #attached = 0;
  #isBroken = false;

  constructor(instance: DuckDBInstance, spillFolder: string, broke: (error: Error) => void) {
    this.#instance = instance;
    this.#spillFolder = spillFolder;
    this.#broke = broke;
  }

  async rewrite(path: string): Promise<void> {
    const written = `${path}.new`;
    failpoint("store.purge.begun");
    for (const leftover of [written, `${written}.wal`]) rmSync(leftover, { force: true });
    {
      await using from = await this.attach(path);
      await using to = await this.attach(written);
      await to.run(`COPY FROM DATABASE ${from.name} TO ${to.name}`);
      await createPurge(to);
    }
    // A log that stays would be taken for the new file's.
    if (existsSync(`${path}.wal`)) throw storageError(`"${path}" has a log that could not be emptied.`);
    failpoint("store.purge.written");
    renameSync(written, path);
    failpoint("store.purge.renamed");
  }

  async attach(path: string): Promise<DuckFile> {
    if (!isAbsolute(path) || path.includes("\0")) throw invalidParams(`"${path}" is no absolute path.`);
    // A name nobody chose needs no escaping; it is never used again, so a late statement cannot hit another file.
    const name = `memory_${++this.#attached}`;
    this.#refuseBroken();
    const connection = await this.#instance.connect();
    try {
      await connection.run(`ATTACH ${quoted(path)} AS ${name} (TYPE duckdb)`);
      await connection.run(`USE ${name}`);
    } catch (error) {
      this.#look(error);
      await connection.run(`DETACH DATABASE IF EXISTS ${name}`).catch(() => undefined);
      connection.closeSync();
      throw storageError(`"${path}" cannot be opened: ${messageOf(error)}`, error);
    }
    const file: DuckFile = new DuckFile(connection, {
      path,
      name,
      begins: () => this.#refuseBroken(),
      failed: (error) => this.#look(error),
      closed: () => this.#files.delete(file),
    });
    this.#files.add(file);
    return file;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // One that is broken detaches nothing any more.
    for (const file of this.#files) await (this.#isBroken ? file.abandon() : file[Symbol.asyncDispose]());
    this.#instance.closeSync();
    rmSync(this.#spillFolder, { recursive: true, force: true });
    isOpen = false;
  }

  #refuseBroken(): void {
    if (this.#isBroken)
      throw storageError("DuckDB has failed; what was committed is there when it starts again.");
  }

  #look(error: unknown): void {
    if (this.#isBroken || !(error instanceof Error) || !brokenForm.test(error.message)) return;
    this.#isBroken = true;
    this.#broke(error);
  }
}

/**
 * How DuckDB says that it is not to be trusted any more, or not with one file, after a checkpoint that failed midway;
 * all else concerns one statement.
 */
const brokenForm = /^(FATAL|INTERNAL) Error|\bdatabase\b.* has been invalidated/i;

/**
 * In an order that matters: which folder may be reached and where is spilled can only be said while everything can be
 * reached, and nothing can be said any more once the configuration is locked.
 */
async function startInstance(folder: string, spillFolder: string): Promise<DuckDBInstance> {
  const instance = await DuckDBInstance.create(":memory:", {
    memory_limit: `${duckMemoryMb}MB`,
    threads: String(duckThreads),
    checkpoint_threshold: `${duckLogMb}MB`,
    temp_directory: spillFolder,
    max_temp_directory_size: `${duckSpillMb}MB`,
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    allow_community_extensions: "false",
    allow_unsigned_extensions: "false",
    // Concludes from the values that are there when a statement is prepared that it finds nothing, and a statement that
    // is kept goes on finding nothing when others have come.
    disabled_optimizers: "statistics_propagation",
  });
  let connection: DuckDBConnection | undefined;
  try {
    connection = await instance.connect();
    await connection.run(`SET allowed_directories = [${quoted(folder)}]`);
    await connection.run("SET enable_external_access = false");
    await connection.run("SET lock_configuration = true");
  } catch (error) {
    instance.closeSync();
    throw error;
  } finally {
    connection?.closeSync();
  }
  return instance;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
