import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { invalidParams, storageError, messageOf } from "../../base/errors.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { DuckFile } from "./duck-file.ts";
import { createPurge } from "./purge.ts";

/** Memory limit of DuckDB over all files; beyond it, DuckDB spills to `temporaryFolder`. */
const duckMemoryMb = 512;
/** Threads that a query may use. Kernel and sandbox need processors too. */
const duckThreads = 2;
/**
 * Size at which a file's log is merged into it. With DuckDB's default of 16 MB, commits cost four times the processor
 * time, because the last rows are compressed again each time. Reading a log of this size after a crash takes about a
 * second.
 */
const duckLogMb = 64;
/** Maximum bytes that DuckDB may spill. */
const duckSpillMb = 2048;

interface DuckOptions {
  /** Absolute path. Every attached file lies beneath it; DuckDB can access nothing else. */
  readonly folder: string;
  /**
   * Called once if DuckDB itself has failed: it answers nothing more, for any file, and the process must end. What was
   * committed is there when the next process opens it.
   */
  broke?(error: Error): void;
}

/** The process's one DuckDB. Two instances on one file lose data silently. */
export interface Duck extends AsyncDisposable {
  /**
   * Opens or creates the file at an absolute path beneath `folder`. Throws StorageError if it cannot be read as a
   * database. A file may be attached only once at a time.
   */
  attach(path: string): Promise<DuckFile>;
  /**
   * Rewrites a file that is not attached from its remaining rows; see `purge.ts`. Throws StorageError, and then leaves
   * the file as it was.
   */
  rewrite(path: string): Promise<void>;
}

let isOpen = false;

/** Starts DuckDB; a process can have one. Throws StorageError if it cannot start. */
export async function openDuck({ folder, broke }: DuckOptions): Promise<Duck> {
  if (isOpen) throw storageError("DuckDB is open in this process already; two would lose data.");
  if (!isAbsolute(folder)) throw invalidParams(`"${folder}" is not an absolute path.`);
  isOpen = true;
  try {
    // Files that an earlier process spilled may contain data that has been forgotten since.
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
    // A log that remains would be applied to the new file.
    if (existsSync(`${path}.wal`)) throw storageError(`"${path}" has a log that could not be emptied.`);
    failpoint("store.purge.written");
    renameSync(written, path);
    failpoint("store.purge.renamed");
  }

  async attach(path: string): Promise<DuckFile> {
    if (!isAbsolute(path) || path.includes("\0")) throw invalidParams(`"${path}" is not an absolute path.`);
    // A generated name needs no escaping. It is never reused, so a late statement cannot reach another file.
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
    // A database that has failed cannot detach anything.
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
    if (this.#isBroken || !(error instanceof Error) || !saysBroken(error.message)) return;
    this.#isBroken = true;
    this.#broke(error);
  }
}

/**
 * DuckDB's messages that it has failed as a whole, or for one file, after a checkpoint that failed midway. All other
 * errors concern one statement.
 */
function saysBroken(message: string): boolean {
  if (/^(?:FATAL|INTERNAL) Error/i.test(message)) return true;
  // A message may repeat the values of a statement, so each line is read once.
  const invalidated = message.matchAll(/^(.*) has been invalidated/gim);
  return invalidated.some(([, before = ""]) => /\bdatabase\b/i.test(before));
}

/**
 * The order matters: the allowed folder and the spill folder can only be set while external access is enabled, and
 * nothing can be set once the configuration is locked.
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
    // This optimizer concludes from the values at preparation that a statement finds nothing, and a kept statement then
    // finds nothing even when matching rows have been added.
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
