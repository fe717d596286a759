import { rmSync } from "node:fs";
import { checkContent, closeTextFile, openTextFile } from "../text-file.ts";

/** Throws StorageError if a file that is not open must not be used. */
export function verifyText(path: string): void {
  const database = openTextFile(path);
  try {
    checkContent(database);
  } finally {
    closeTextFile(database, path);
  }
}

/** Removes a file that is not open, with everything beside it. */
export function removeText(path: string): void {
  for (const ending of ["", "-wal", "-shm", "-journal", ".sum"]) rmSync(`${path}${ending}`, { force: true });
}
