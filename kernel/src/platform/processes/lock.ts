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

/** The connections that hold locks: without a reference, one would be garbage collected and release its lock. */
const heldHere = new Set<DatabaseSync>();

export interface FileLock extends AsyncDisposable {
  release(): Promise<void>;
}

/** Another process holds the lock. The process id is the recorded one, for messages only. */
export interface LockHeld {
  readonly heldBy: number | "unknown";
}

/**
 * Takes the lock of the file at `path`, or returns its holder; never waits. One holder per machine. The operating
 * system releases the lock however the holder dies, so nothing depends on process ids.
 *
 * Node.js has no lock calls of its own, but SQLite has them on every platform, and an exclusive transaction on an
 * empty database is just such a lock. Nothing else may open this file: POSIX drops a process's locks on a file when
 * any of its descriptors closes. Hence the holder's id is stored beside it, in `<path>.pid`.
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
    // Removed and created again, so that a file of a dead holder or of another program is never written to.
    await rm(note, { force: true });
    await writeFile(note, `${process.pid}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    releaseFile(held);
    throw storageFailure(`The lock "${path}" was taken, but "${note}" cannot be written`, error);
  }
  failpoint("lock.noted");
  const release = async (): Promise<void> => {
    if (!held.isOpen) return;
    // Removes the note before releasing the lock; the other order could remove the next holder's note.
    await rm(note, { force: true });
    failpoint("lock.note-removed");
    if (held.isOpen) releaseFile(held);
    failpoint("lock.released");
  };
  return { release, [Symbol.asyncDispose]: release };
}

function releaseFile(held: DatabaseSync): void {
  held.close();
  heldHere.delete(held);
}

/** Returns the current holder of the lock, which is taken only for the moment of the check; null if there is none. */
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
    // Without a note, the holder is between taking the lock and writing it, or between removing it and releasing the
    // lock.
    const text = (await readPlainText(note, maxNoteBytes)) ?? "";
    return /^[1-9][0-9]{0,9}\n?$/.test(text) ? Number(text) : "unknown";
  } catch (error) {
    // The process id is only for a message; it is known without it that the lock is held.
    if (isLaresError(error, "StorageError")) return "unknown";
    throw error;
  }
}
