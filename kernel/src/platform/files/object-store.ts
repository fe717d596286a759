import { createHash, randomBytes } from "node:crypto";
import { lstat, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { limitExceeded, LaresError, storageError, systemCode } from "../../base/errors.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import { syncFolder } from "./atomic-file.ts";
import { failpoint } from "../failpoint.ts";
import { sha256File } from "./hash.ts";
import { storageFailure } from "./storage-failure.ts";

/**
 * Stores contents by their SHA-256, each in `ab/cdef…`. A stored content is on the disk when the call resolves and
 * never changes; a complete read verifies it.
 */
export interface ObjectStore {
  /** Returns the hash of the content. Rejects with Stale {path} if `expected` is given and differs. */
  put(
    content: Uint8Array | AsyncIterable<Uint8Array>,
    expected?: { hash: Hash; path: string },
  ): Promise<Hash>;
  has(hash: Hash): Promise<boolean>;
  /** Rejects with StorageError if the object is missing or its content does not match its hash. */
  stream(hash: Hash): AsyncGenerator<Uint8Array, void, void>;
  readRange(hash: Hash, offset: number, length: number): Promise<{ bytes: Uint8Array; eof: boolean }>;
  /** Returns the sizes of all objects in bytes. */
  sizes(): Promise<ReadonlyMap<Hash, number>>;
  /** Removes every object that is not in `keep`, which is on the disk when it resolves; returns their number. */
  sweep(keep: ReadonlySet<Hash>): Promise<number>;
}

const chunkBytes = 1048576;
const temporaryPrefix = "incoming-";

/** Creates the folder if it is missing, and removes what an interrupted put left behind. */
export async function openObjectStore(folder: string): Promise<ObjectStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folder)) {
    if (name.startsWith(temporaryPrefix)) await rm(join(folder, name), { force: true });
  }
  return new FolderObjectStore(folder);
}

/** Returns a reader of a store that somebody else writes. It creates and removes nothing. */
export function objectReader(folder: string): Pick<ObjectStore, "stream"> {
  return new FolderObjectStore(folder);
}

class FolderObjectStore implements ObjectStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async put(
    content: Uint8Array | AsyncIterable<Uint8Array>,
    expected?: { hash: Hash; path: string },
  ): Promise<Hash> {
    const temporary = join(this.#folder, `${temporaryPrefix}${randomBytes(8).toString("hex")}`);
    const digest = createHash("sha256");
    try {
      if (expected !== undefined && (await this.#isWhole(expected.hash))) return expected.hash;
      {
        await using file = await open(temporary, "wx", 0o600);
        failpoint("objects.put.created");
        for await (const bytes of content instanceof Uint8Array ? piecesOf(content) : content) {
          digest.update(bytes);
          await file.writeFile(bytes);
        }
        failpoint("objects.put.written");
        await file.sync();
        failpoint("objects.put.synced");
      }
      const hash: Hash = `sha256:${digest.digest("hex")}`;
      if (expected !== undefined && hash !== expected.hash) {
        throw new LaresError("Stale", `${JSON.stringify(expected.path)} has changed.`, {
          path: expected.path,
        });
      }
      const target = this.#pathOf(hash);
      const shelf = join(target, "..");
      if ((await mkdir(shelf, { recursive: true, mode: 0o700 })) !== undefined)
        await syncFolder(this.#folder);
      await rename(temporary, target);
      failpoint("objects.put.renamed");
      await syncFolder(shelf);
      failpoint("objects.put.folder-synced");
      return hash;
    } catch (error) {
      await rm(temporary, { force: true });
      throw storageFailure(`A content could not be stored in "${this.#folder}"`, error);
    }
  }

  async has(hash: Hash): Promise<boolean> {
    return (await this.#sizeOf(hash)) !== null;
  }

  async *stream(hash: Hash): AsyncGenerator<Uint8Array, void, void> {
    const digest = createHash("sha256");
    for (let offset = 0, eof = false; !eof;) {
      const piece = await this.readRange(hash, offset, chunkBytes);
      digest.update(piece.bytes);
      offset += piece.bytes.length;
      eof = piece.eof;
      if (eof && `sha256:${digest.copy().digest("hex")}` !== hash) throw damaged(hash);
      yield piece.bytes;
    }
  }

  async readRange(hash: Hash, offset: number, length: number): Promise<{ bytes: Uint8Array; eof: boolean }> {
    if (length > chunkBytes)
      throw limitExceeded("length", length, `At most ${chunkBytes} bytes are read at once.`);
    const size = await this.#sizeOf(hash);
    if (size === null) throw storageError(`The stored content ${hash} is missing.`);
    try {
      await using file = await open(this.#pathOf(hash), "r");
      const buffer = new Uint8Array(Math.max(0, Math.min(length, size - offset)));
      let read = 0;
      while (read < buffer.length) {
        const { bytesRead } = await file.read(buffer, read, buffer.length - read, offset + read);
        if (bytesRead === 0) throw damaged(hash);
        read += bytesRead;
      }
      return { bytes: buffer, eof: offset + read >= size };
    } catch (error) {
      throw storageFailure(`The stored content ${hash} cannot be read`, error);
    }
  }

  async sweep(keep: ReadonlySet<Hash>): Promise<number> {
    let removed = 0;
    for await (const [shelf, names] of this.#shelves()) {
      const unneeded = names.filter((name) => !keep.has(`sha256:${shelf}${name}`));
      for (const name of unneeded) {
        failpoint("objects.sweep.found");
        await rm(join(this.#folder, shelf, name), { force: true });
        failpoint("objects.sweep.removed");
      }
      if (unneeded.length > 0) await syncFolder(join(this.#folder, shelf));
      removed += unneeded.length;
    }
    return removed;
  }

  async sizes(): Promise<ReadonlyMap<Hash, number>> {
    const sizes = new Map<Hash, number>();
    for await (const [shelf, names] of this.#shelves()) {
      for (const name of names) {
        const hash: Hash = `sha256:${shelf}${name}`;
        const size = await this.#sizeOf(hash);
        if (size !== null) sizes.set(hash, size);
      }
    }
    return sizes;
  }

  async *#shelves(): AsyncGenerator<readonly [shelf: string, names: readonly string[]]> {
    for (const shelf of await readdir(this.#folder))
      if (/^[0-9a-f]{2}$/.test(shelf)) yield [shelf, await readdir(join(this.#folder, shelf))];
  }

  #pathOf(hash: Hash): string {
    const hexadecimal = hash.slice("sha256:".length);
    return join(this.#folder, hexadecimal.slice(0, 2), hexadecimal.slice(2));
  }

  /** Returns null if there is no regular file; a link, a pipe or a folder in its place is not followed. */
  async #sizeOf(hash: Hash): Promise<number | null> {
    try {
      const found = await lstat(this.#pathOf(hash));
      return found.isFile() ? found.size : null;
    } catch (error) {
      if (["ENOENT", "ENOTDIR"].includes(systemCode(error))) return null;
      throw storageFailure(`The stored content ${hash} cannot be read`, error);
    }
  }

  /** Returns true if the object exists undamaged; a damaged one is written again. */
  async #isWhole(hash: Hash): Promise<boolean> {
    return (await this.has(hash)) && (await sha256File(this.#pathOf(hash))) === hash;
  }
}

/** Hashing a large content at once would block the loop. */
function* piecesOf(content: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < content.length; at += chunkBytes) yield content.subarray(at, at + chunkBytes);
}

function damaged(hash: Hash): LaresError {
  return storageError(`The stored content ${hash} is damaged: its bytes have another hash.`);
}
