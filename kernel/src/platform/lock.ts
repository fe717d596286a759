import { readFile, rm, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import process from "node:process";
import { databaseError } from "./database-errors.ts";
import { isLaresError, messageOf, storageError } from "../base/errors.ts";

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
  try {
    await writeFile(note, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    held.close();
    throw storageError(
      `The lock "${path}" was taken, but "${note}" cannot be written: ${messageOf(error)}`,
      error,
    );
  }
  const release = async (): Promise<void> => {
    if (!held.isOpen) return;
    // First the note, then the lock: the other way round would remove the next holder's note.
    await rm(note, { force: true });
    if (held.isOpen) held.close();
  };
  return { release, [Symbol.asyncDispose]: release };
}

async function readProcessId(note: string): Promise<number | "unknown"> {
  try {
    const text = (await readFile(note, "utf8")).trim();
    return /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : "unknown";
  } catch (error) {
    // The holder is between taking the lock and writing, or between removing the note and leaving.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "unknown";
    throw error;
  }
}
