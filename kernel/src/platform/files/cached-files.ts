import { readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { storageFailure } from "./storage-failure.ts";

/** Files in the user's cache, which several processes share: any of them may be gone at any time. */
interface CachedFile {
  readonly name: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/** Returns the size of a regular file; null if there is none. */
export async function sizeOfFile(path: string): Promise<number | null> {
  const found = await stat(path).catch(() => null);
  return found?.isFile() === true ? found.size : null;
}

/** Returns what is in a folder. */
export async function filesIn(folder: string): Promise<CachedFile[]> {
  const files: CachedFile[] = [];
  for (const name of await readdir(folder)) {
    const found = await stat(join(folder, name)).catch(() => null);
    if (found !== null) files.push({ name, bytes: found.size, modifiedMs: found.mtimeMs });
  }
  return files;
}

/** Gives a whole file its name. StorageError. */
export async function moveFile(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    throw storageFailure(`"${to}" cannot be written`, error);
  }
}

/** Removes a file, if it is there. */
export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true });
}

/** Writes down that a file is used now, at most once in `granularityMs`. A failure has no effect. */
export async function markUsed(path: string, nowMs: number, granularityMs: number): Promise<void> {
  try {
    const { mtimeMs } = await stat(path);
    if (nowMs - mtimeMs > granularityMs) await utimes(path, nowMs / 1000, nowMs / 1000);
  } catch {
    // It decides only what is removed first.
  }
}
