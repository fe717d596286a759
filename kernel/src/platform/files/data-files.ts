import { writeSync } from "node:fs";
import { type FileHandle, lstat, mkdir, readdir, readFile, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "./atomic-file.ts";
import { failpoint } from "../failpoint.ts";
import { openPlainFile, setAside } from "./plain-file.ts";
import { storageFailure } from "./storage-failure.ts";

/**
 * Files of the kernel's own state folder, for the rooms that keep data there. (Files of the workspace are
 * reached through `rooted-fs.ts` only.) Paths are absolute; every failure is a StorageError.
 */

/** How much of a file is held in memory while it streams by. */
const pieceBytes = 1024 * 1024;

export { join as joinPath };

/** Makes the folder, and those above it, for the owner alone. */
export function makeFolder(path: string): Promise<void> {
  return guarded(`make the folder "${path}"`, async () => {
    await mkdir(path, { recursive: true, mode: 0o700 });
  });
}

/** Makes a folder in one that is there, for the owner alone; fails where something has that name. */
export function makeNewFolder(path: string): Promise<void> {
  return guarded(`make the folder "${path}"`, () => mkdir(path, { mode: 0o700 }));
}

/** Resolves when the names in a folder are on the disk. */
export function synchronizeFolder(path: string): Promise<void> {
  return guarded(`bring "${path}" to the disk`, () => syncFolder(path));
}

/** The names of the plain files in a folder, sorted; none where the folder is missing. */
export function listFiles(path: string): Promise<string[]> {
  return guarded(`list "${path}"`, async () => {
    const entries = await orMissing(readdir(path, { withFileTypes: true }), []);
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name)
      .toSorted();
  });
}

/** Bytes; null where there is no such file. */
export function fileSize(path: string): Promise<number | null> {
  return guarded(`look at "${path}"`, async () => (await orMissing(stat(path), null))?.size ?? null);
}

/** A whole file of at most `maxBytes`; null where it is missing, larger, or no plain file. */
export function readSmallFile(path: string, maxBytes: number): Promise<Uint8Array | null> {
  return guarded(`read "${path}"`, async () => {
    const found = await orMissing(lstat(path), null);
    // A pipe in its place would be waited for.
    if (found === null || !found.isFile() || found.size > maxBytes) return null;
    return await orMissing(readFile(path), null);
  });
}

/** True where something stands at `path` that is no plain file; a link is none, whatever it leads to. */
export function isNoPlainFile(path: string): Promise<boolean> {
  return guarded(`look at "${path}"`, async () => (await orMissing(lstat(path), null))?.isFile() === false);
}

/** Gives what stands at `path` another name beside it, and says which. */
export function moveAside(path: string, nowMs: number): Promise<string> {
  return guarded(`move "${path}" away`, () => setAside(path, nowMs));
}

/** Removes a file; a missing one is fine. */
export function removeFile(path: string): Promise<void> {
  return guarded(`remove "${path}"`, () => rm(path, { force: true }));
}

/** Gives a file a new name, replacing what had it. */
export function renameFile(from: string, to: string): Promise<void> {
  return guarded(`rename "${from}" to "${to}"`, () => rename(from, to));
}

/** Removes a folder with all that is in it; a missing one is fine. A link is removed, and not what it leads to. */
export function removeFolder(path: string): Promise<void> {
  return guarded(`remove "${path}"`, () => rm(path, { recursive: true, force: true }));
}

/** Gives a folder the name of another, which is empty or missing. Durable when it resolves. */
export function putFolderInPlace(from: string, to: string): Promise<void> {
  return guarded(`rename "${from}" to "${to}"`, async () => {
    await orMissing(rmdir(to), null);
    failpoint("folder.place.cleared");
    await rename(from, to);
    failpoint("folder.place.renamed");
    await syncFolder(dirname(to));
  });
}

/** A file's bytes from `start` on, `size` of them, piece by piece. A piece is only good until the next one is asked for. */
export async function* readPieces(
  path: string,
  size: number,
  start = 0,
): AsyncGenerator<Uint8Array, void, undefined> {
  await using file = await openDataFile(path, "r");
  yield* piecesOf(file, start, size);
}

/** As `readPieces`, of a file that is open and stays so. Fewer bytes where the file ends before. */
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

/** Opens for reading ("r"), or for appending and reading, made where it is missing ("a"). */
export function openDataFile(path: string, mode: "r" | "a"): Promise<DataFile> {
  return guarded(`open "${path}"`, async () => {
    const handle = await openPlainFile(path, mode === "r" ? "read" : "append");
    return new DataFile(handle, path, (await handle.stat()).size);
  });
}

/** An open file that only grows at its end, or is cut there. */
export class DataFile implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly path: string;
  #size: number;

  constructor(handle: FileHandle, path: string, size: number) {
    this.#handle = handle;
    this.path = path;
    this.#size = size;
  }

  /** Bytes, as far as this handle wrote them or found them. */
  get size(): number {
    return this.#size;
  }

  /** Resolves when the operating system has all of it. After a failure part of it may be there: see `truncate`. */
  append(bytes: Uint8Array): Promise<void> {
    return guarded(`write "${this.path}"`, async () => {
      for (let written = 0; written < bytes.byteLength;) {
        const { bytesWritten } = await this.#handle.write(bytes, written, bytes.byteLength - written);
        written += bytesWritten;
      }
      this.#size += bytes.byteLength;
    });
  }

  /**
   * As `append`, in this very turn of the loop: for what is so small that handing it to a thread would cost more than
   * the system's taking it.
   */
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

  /** Resolves when what was written is on the disk. */
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
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return missing;
    throw error;
  }
}
