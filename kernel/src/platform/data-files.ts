import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { storageError } from "../base/errors.ts";

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

/** A whole file of at most `maxBytes`; null where it is missing or larger. */
export function readSmallFile(path: string, maxBytes: number): Promise<Uint8Array | null> {
  return guarded(`read "${path}"`, async () => {
    const found = await orMissing(stat(path), null);
    return found === null || found.size > maxBytes ? null : await orMissing(readFile(path), null);
  });
}

/** Removes a file; a missing one is fine. */
export function removeFile(path: string): Promise<void> {
  return guarded(`remove "${path}"`, () => rm(path, { force: true }));
}

/** Gives a file a new name, replacing what had it. */
export function renameFile(from: string, to: string): Promise<void> {
  return guarded(`rename "${from}" to "${to}"`, () => rename(from, to));
}

/** A file's first `size` bytes, piece by piece. A piece is only good until the next one is asked for. */
export async function* readPieces(path: string, size: number): AsyncGenerator<Uint8Array, void, undefined> {
  await using file = await openDataFile(path, "r");
  const piece = new Uint8Array(pieceBytes);
  for (let position = 0; position < size;) {
    const count = await file.readInto(piece.subarray(0, Math.min(pieceBytes, size - position)), position);
    if (count === 0) return;
    yield piece.subarray(0, count);
    position += count;
  }
}

/** Opens for reading ("r"), or for appending and reading, made where it is missing ("a"). */
export function openDataFile(path: string, mode: "r" | "a"): Promise<DataFile> {
  return guarded(`open "${path}"`, async () => {
    const handle = await open(path, mode === "r" ? "r" : "a+", 0o600);
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
    throw storageError(
      `Could not ${what}: ${error instanceof Error ? error.message : String(error)}.`,
      error,
    );
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
