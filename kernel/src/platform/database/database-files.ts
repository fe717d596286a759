import { closeSync, existsSync, lstatSync, openSync, renameSync, statSync } from "node:fs";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { isLaresError, LaresError, systemCode } from "../../base/errors.ts";
import { damagedDatabase, databaseError } from "./database-errors.ts";
import { breakSeal, sealDatabase } from "./database-seal.ts";

export const inMemory = ":memory:";

/** What an engine does about a database file besides reading and writing it. */
export interface FileOwnership {
  /** True where several processes have the file open at once. */
  readonly isShared: boolean;
  /** How long SQLite waits for a lock that another process holds. */
  readonly lockTimeoutMs: number;
  /** True where the last process did not close the file. */
  readonly wasLeftOpen: boolean;
  /** True where the engine has to check the whole file after opening it. */
  readonly checksOnOpen: boolean;
  /** Called before SQLite opens the file; throws where the file must not be used. */
  prepare(): void;
  /** Called after SQLite closed the file. */
  closed(): void;
  /** Called where opening failed. */
  abandon(): void;
}

/** One process has the file at a time, which a lock outside of SQLite guarantees. The closed file is sealed. */
export class SoleOwnership implements FileOwnership {
  readonly isShared = false;
  readonly lockTimeoutMs = 5_000;
  readonly wasLeftOpen: boolean;
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
    this.wasLeftOpen = path !== inMemory && hasLogContent(path);
  }

  get checksOnOpen(): boolean {
    return this.wasLeftOpen;
  }

  /** A link, a folder or a pipe is not a database; the closed file is unchanged. */
  prepare(): void {
    refuseOtherThanFile(this.#path);
    if (!this.wasLeftOpen) breakSeal(this.#path);
  }

  closed(): void {
    // Somebody else has it open too, or the log could not be emptied: then the file is not all of it.
    if (!existsSync(`${this.#path}-wal`)) sealDatabase(this.#path);
  }

  abandon(): void {
    // Nothing is held.
  }
}

/**
 * Several processes have the file open at once. All hold the lock file shared: a read transaction on an empty
 * database. An opener that is alone holds it exclusively first, and checks the file; a damaged one is renamed.
 */
export class SharedOwnership implements FileOwnership {
  readonly isShared = true;
  /** Short: the calling thread is blocked meanwhile. Transactions are short as well. */
  readonly lockTimeoutMs = 2_000;
  /** The check is done under the exclusive lock, before the engine opens the file. */
  readonly checksOnOpen = false;
  wasLeftOpen = false;
  readonly #path: string;
  readonly #lockPath: string;
  #lock: DatabaseSync | undefined;

  constructor(path: string, lockPath: string) {
    this.#path = path;
    this.#lockPath = lockPath;
  }

  prepare(): void {
    makePrivateFile(this.#lockPath);
    this.#lock = new DatabaseSync(this.#lockPath, { timeout: 0 });
    if (this.#lockExclusively(this.#lock)) {
      this.#checkAlone();
      this.#lock.exec("ROLLBACK");
    }
    // Between the two locks another opener may check the file too; this one has it closed at that moment.
    this.#lock.exec(`PRAGMA busy_timeout = ${this.lockTimeoutMs}; BEGIN; SELECT count(*) FROM sqlite_schema`);
    makePrivateFile(this.#path);
  }

  closed(): void {
    this.#lock?.close();
    this.#lock = undefined;
  }

  abandon(): void {
    this.closed();
  }

  /** False where another process has the file open or is checking it. */
  #lockExclusively(lock: DatabaseSync): boolean {
    try {
      lock.exec("BEGIN EXCLUSIVE");
      return true;
    } catch (error) {
      if (isLaresError(databaseError(error, this.#lockPath), "Busy")) return false;
      throw error;
    }
  }

  /** Leaves a file in WAL mode: two processes that switch to it at once would fail. */
  #checkAlone(): void {
    makePrivateFile(this.#path);
    this.wasLeftOpen = hasLogContent(this.#path);
    const finding = damageOf(this.#path);
    if (finding === null) return;
    const aside = `${this.#path}.damaged-${Date.now()}`;
    for (const suffix of ["", "-wal", "-shm"])
      if (existsSync(`${this.#path}${suffix}`)) renameSync(`${this.#path}${suffix}`, `${aside}${suffix}`);
    makePrivateFile(this.#path);
    damageOf(this.#path);
    throw new LaresError(
      "StorageError",
      `The database "${this.#path}" is damaged: ${finding}. It was renamed to "${aside}". Restore it from a backup, or try again to continue with an empty one.`,
    );
  }
}

/** Returns what SQLite finds wrong with the file, or null. Switches a whole file to WAL mode. */
function damageOf(path: string): string | null {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec("PRAGMA journal_mode = WAL; PRAGMA trusted_schema = OFF");
    return findDamage(database);
  } catch (error) {
    const described = databaseError(error, path);
    if (described.message === damagedDatabase(path, String((error as Error).message)).message)
      return String((error as Error).message);
    throw described;
  } finally {
    database.close();
  }
}

/** Returns the first findings of SQLite's own check, or null. */
export function findDamage(database: DatabaseSync): string | null {
  const findings = database
    .prepare("PRAGMA quick_check(3)")
    .all()
    .map((row) => String(Object.values(row)[0]));
  return findings[0] === "ok" ? null : findings.join("; ");
}

/** Makes the file with mode 0600 (SQLite would go by the umask), or makes sure that only its owner can use it. */
function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
    return;
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
  refuseOtherThanFile(path);
  const { mode } = statSync(path);
  // Windows has no modes. The file is never opened here: closing it would drop SQLite's locks of this process.
  if (process.platform !== "win32" && (mode & 0o077) !== 0)
    throw new LaresError(
      "StorageError",
      `"${path}" can be used by others (mode ${(mode & 0o777).toString(8).padStart(4, "0")}), so it is not opened. Run: chmod 600 "${path}"`,
    );
}

function refuseOtherThanFile(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw damagedDatabase(path, "it is not a regular file");
}

/** A clean close empties and removes the write-ahead log. */
function hasLogContent(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
