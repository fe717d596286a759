import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import process from "node:process";
import { databaseError } from "../database/database-errors.ts";
import { isLaresError } from "../../base/errors.ts";
import { failpoint } from "../failpoint.ts";
import { readPlainText } from "../files/plain-file.ts";
import { storageFailure } from "../files/storage-failure.ts";

const maxNoteBytes = 64;

/** The connections whose locks are held: one that nobody refers to would be collected, and its lock with it. */
const heldHere = new Set<DatabaseSync>();

export interface FileLock extends AsyncDisposable {
  /** Lets the next one in. */
  release(): Promise<void>;
}

/** Somebody else holds the lock. The process id is what they wrote down, for a message only. */
export interface LockHeld {
  readonly heldBy: number | "unknown";
}

/**
 * Takes the lock that the file at `path` stands for, or says who has it; never waits. One holder per
 * machine. The operating system gives it back when the holder dies, in whatever way, so nothing is ever
 * guessed from process ids.
 *
 * Node has no lock calls of its own; SQLite does, on every platform, and an exclusive transaction on an
 * empty database is nothing but that lock. Nobody else may open this file: POSIX drops a process's locks
 * on a file when any of its descriptors closes. Hence the holder's id lies beside it, in `<path>.pid`.
 */
export async function acquireLock(path: string): Promise<FileLock | LockHeld> {
  const note = `${path}.pid`;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    if (database?.isOpen === true) database.close();
    const known = databaseError(error, path);
    if (isLaresError(known, "Busy")) return { heldBy: await readProcessId(note) };
    throw known;
  }
  const held = database;
  heldHere.add(held);
  failpoint("lock.taken");
  try {
    // Made anew: what a dead holder left, or somebody put there, is not written to.
    await rm(note, { force: true });
    await writeFile(note, `${process.pid}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    letGo(held);
    throw storageFailure(`The lock "${path}" was taken, but "${note}" cannot be written`, error);
  }
  failpoint("lock.noted");
  const release = async (): Promise<void> => {
    if (!held.isOpen) return;
    // First the note, then the lock: the other way round would remove the next holder's note.
    await rm(note, { force: true });
    failpoint("lock.note-removed");
    if (held.isOpen) letGo(held);
    failpoint("lock.released");
  };
  return { release, [Symbol.asyncDispose]: release };
}

function letGo(held: DatabaseSync): void {
  held.close();
  heldHere.delete(held);
}

/** Who has the lock now, without taking it for longer than it takes to see; null where nobody has it. */
export async function lockHolder(path: string): Promise<number | "unknown" | null> {
  if (!existsSync(path)) return null;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    database.exec("BEGIN EXCLUSIVE");
    return null;
  } catch (error) {
    const known = databaseError(error, path);
    if (isLaresError(known, "Busy")) return await readProcessId(`${path}.pid`);
    throw known;
  } finally {
    if (database?.isOpen === true) database.close();
  }
}

async function readProcessId(note: string): Promise<number | "unknown"> {
  try {
    // None: the holder is between taking the lock and writing, or between removing the note and leaving.
    const text = (await readPlainText(note, maxNoteBytes)) ?? "";
    return /^[1-9][0-9]{0,9}\n?$/.test(text) ? Number(text) : "unknown";
  } catch (error) {
    // For a message only: that somebody has the lock is known without it.
    if (isLaresError(error, "StorageError")) return "unknown";
    throw error;
  }
}
