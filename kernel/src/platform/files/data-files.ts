import { writeSync } from "node:fs";
import { type FileHandle, lstat, mkdir, readdir, readFile, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemCode } from "../../base/errors.ts";
import { syncFolder, writeFileAtomically } from "./atomic-file.ts";
import { failpoint } from "../failpoint.ts";
import { openPlainFile, setAside } from "./plain-file.ts";
import { storageFailure } from "./storage-failure.ts";

/**
 * Files in the kernel's own state folder, for the rooms that store data there. (Files of the workspace are reached
 * through `rooted-fs.ts` only.) Paths are absolute; every failure is a StorageError.
 */

/** Bytes of a file that are held in memory while it is streamed. */
const pieceBytes = 1024 * 1024;

export { dirname as folderOfPath, join as joinPath };

/** Creates the folder and its parents, accessible to the owner only. */
export function makeFolder(path: string): Promise<void> {
  return guarded(`make the folder "${path}"`, async () => {
    await mkdir(path, { recursive: true, mode: 0o700 });
  });
}

/** Creates a folder in an existing one, accessible to the owner only; fails if the name is taken. */
export function makeNewFolder(path: string): Promise<void> {
  return guarded(`make the folder "${path}"`, () => mkdir(path, { mode: 0o700 }));
}

/** Resolves when the names in a folder are on the disk. */
export function synchronizeFolder(path: string): Promise<void> {
  return guarded(`bring "${path}" to the disk`, () => syncFolder(path));
}

/** Returns the names of the regular files in a folder, sorted; none if the folder is missing. */
export function listFiles(path: string): Promise<string[]> {
  return guarded(`list "${path}"`, async () => {
    const entries = await orMissing(readdir(path, { withFileTypes: true }), []);
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name)
      .toSorted();
  });
}

/** Returns the size in bytes; null if there is no such file. */
export function fileSize(path: string): Promise<number | null> {
  return guarded(`look at "${path}"`, async () => (await orMissing(stat(path), null))?.size ?? null);
}

/** Reads a whole file of at most `maxBytes`; null if it is missing, larger, or not a regular file. */
export function readSmallFile(path: string, maxBytes: number): Promise<Uint8Array | null> {
  return guarded(`read "${path}"`, async () => {
    const found = await orMissing(lstat(path), null);
    // Opening a pipe would block.
    if (found === null || !found.isFile() || found.size > maxBytes) return null;
    return await orMissing(readFile(path), null);
  });
}

/** Returns true if something other than a regular file is at `path`; a link counts as such. */
export function isNotPlainFile(path: string): Promise<boolean> {
  return guarded(`look at "${path}"`, async () => (await orMissing(lstat(path), null))?.isFile() === false);
}

/** Renames whatever is at `path` within its folder, and returns the new path. */
export function moveAside(path: string, nowMs: number): Promise<string> {
  return guarded(`move "${path}" away`, () => setAside(path, nowMs));
}

export function removeFile(path: string): Promise<void> {
  return guarded(`remove "${path}"`, () => rm(path, { force: true }));
}

/** Replaces a file by other content, so that readers find one of both as a whole. Durable when it resolves. */
export function replaceDataFile(path: string, content: Uint8Array | string): Promise<void> {
  return guarded(`write "${path}"`, () => writeFileAtomically(path, content));
}

/** Renames a file and replaces the target. */
export function renameFile(from: string, to: string): Promise<void> {
  return guarded(`rename "${from}" to "${to}"`, () => rename(from, to));
}

/** Removes a folder with its contents, if it exists. A link is removed without following it. */
export function removeFolder(path: string): Promise<void> {
  return guarded(`remove "${path}"`, () => rm(path, { recursive: true, force: true }));
}

/** Renames a folder to a name that is missing or an empty folder. Durable when it resolves. */
export function putFolderInPlace(from: string, to: string): Promise<void> {
  return guarded(`rename "${from}" to "${to}"`, async () => {
    await orMissing(rmdir(to), null);
    failpoint("folder.place.cleared");
    await rename(from, to);
    failpoint("folder.place.renamed");
    await syncFolder(dirname(to));
  });
}

/** Yields `size` bytes of a file from `start` on, in pieces. A piece is valid only until the next one is requested. */
export async function* readPieces(
  path: string,
  size: number,
  start = 0,
): AsyncGenerator<Uint8Array, void, undefined> {
  await using file = await openDataFile(path, "r");
  yield* piecesOf(file, start, size);
}

/** Like `readPieces`, for an open file, which stays open. Yields fewer bytes if the file ends before. */
export async function* piecesOf(
  file: Pick<DataFile, "readInto">,
  start: number,
  size: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const piece = new Uint8Array(Math.min(pieceBytes, size));
  const end = start + size;
  for (let position = start; position < end;) {
    const count = await file.readInto(piece.subarray(0, Math.min(pieceBytes, end - position)), position);
    if (count === 0) return;
    yield piece.subarray(0, count);
    position += count;
  }
}

/** Opens for reading ("r"), or for appending and reading, creating a missing file ("a"). */
export function openDataFile(path: string, mode: "r" | "a"): Promise<DataFile> {
  return guarded(`open "${path}"`, async () => {
    const handle = await openPlainFile(path, mode === "r" ? "read" : "append");
    return new DataFile(handle, path, (await handle.stat()).size);
  });
}

/** An open file that only grows at its end, or is truncated. */
export class DataFile implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly path: string;
  #size: number;

  constructor(handle: FileHandle, path: string, size: number) {
    this.#handle = handle;
    this.path = path;
    this.#size = size;
  }

  /** The size in bytes when it was opened, plus what this handle wrote. */
  get size(): number {
    return this.#size;
  }

  /** Resolves when the operating system has all bytes. After a failure some may be there: see `truncate`. */
  append(bytes: Uint8Array): Promise<void> {
    return guarded(`write "${this.path}"`, async () => {
      for (let written = 0; written < bytes.byteLength;) {
        const { bytesWritten } = await this.#handle.write(bytes, written, bytes.byteLength - written);
        written += bytesWritten;
      }
      this.#size += bytes.byteLength;
    });
  }

  /** Like `append`, but synchronous: for data so small that a hand-over to a thread would take longer. */
  appendNow(bytes: Uint8Array): void {
    try {
      for (let written = 0; written < bytes.byteLength;) {
        written += writeSync(this.#handle.fd, bytes, written, bytes.byteLength - written);
      }
    } catch (error) {
      throw storageFailure(`Could not write "${this.path}"`, error);
    }
    this.#size += bytes.byteLength;
  }

  /** Resolves when the written bytes are on the disk. */
  synchronize(): Promise<void> {
    return guarded(`bring "${this.path}" to the disk`, () => this.#handle.datasync());
  }

  truncate(size: number): Promise<void> {
    return guarded(`cut "${this.path}"`, async () => {
      await this.#handle.truncate(size);
      this.#size = size;
    });
  }

  /** Fills the buffer from `position` as far as the file goes; resolves to the number of bytes read. */
  readInto(buffer: Uint8Array, position: number): Promise<number> {
    return guarded(`read "${this.path}"`, async () => {
      let count = 0;
      while (count < buffer.byteLength) {
        const { bytesRead } = await this.#handle.read(
          buffer,
          count,
          buffer.byteLength - count,
          position + count,
        );
        if (bytesRead === 0) break;
        count += bytesRead;
      }
      return count;
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return guarded(`close "${this.path}"`, () => this.#handle.close());
  }
}

async function guarded<T>(what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw storageFailure(`Could not ${what}`, error);
  }
}

async function orMissing<T, M>(reading: Promise<T>, missing: M): Promise<T | M> {
  try {
    return await reading;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return missing;
    throw error;
  }
}
