import { open } from "node:fs/promises";
import { systemCode } from "../../base/errors.ts";
import { storageFailure } from "../files/storage-failure.ts";

/**
 * Resolves when every batch that a shared database has committed is on the disk, whichever process committed it. Waits beside
 * the database's thread, which answers meanwhile. Nobody locks this file, so closing it drops no lock of SQLite.
 */
export async function syncWriteAheadLog(databasePath: string): Promise<void> {
  const path = `${databasePath}-wal`;
  try {
    // Windows flushes only what is open for writing.
    await using file = await open(path, "r+");
    await file.datasync();
  } catch (error) {
    // SQLite removes it only after bringing its content into the database, and to the disk.
    if (systemCode(error) === "ENOENT") return;
    throw storageFailure(`Could not bring "${path}" to the disk`, error);
  }
}
