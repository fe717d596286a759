import { createHash } from "node:crypto";
import { FileSystemError, FileType, workspace } from "vscode";
import type { Effect } from "../protocol.ts";
import type { HashOf } from "./drift.ts";
import { uriOf } from "./uris.ts";

/** Larger files are not read here; the kernel checks them. */
const maxBytes = 10 * 1024 * 1024;
/** The number of cached hashes; the least recently used is evicted. */
export const maxKept = 1_000;
/**
 * A file that was written this shortly before the read may change again without a different time or size, so its hash
 * is not cached. Equals the resolution of the coarsest file system clock.
 */
export const settledMs = 2_000;

interface KnownHash {
  readonly mtime: number;
  readonly size: number;
  readonly hash: NonNullable<Effect["before"]>;
}

/** Hashes of the workspace's files; a file with the same time and size is not read again. */
export class FileHashes {
  readonly #nowMs: () => number;
  readonly #known = new Map<string, KnownHash>();

  /** `nowMs`: the current time on the clock that dates files. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** By the kernel's path. */
  readonly of: HashOf = async (path) => {
    const uri = uriOf(path);
    if (uri === undefined) return undefined;
    const key = uri.toString();
    const known = this.#known.get(key);
    this.#known.delete(key);
    try {
      const { type, size, mtime } = await workspace.fs.stat(uri);
      if (type !== FileType.File || size > maxBytes) return undefined;
      if (known?.mtime === mtime && known.size === size) {
        this.#keep(key, known);
        return known.hash;
      }
      const begunMs = this.#nowMs();
      const content = await workspace.fs.readFile(uri);
      const hash: KnownHash["hash"] = `sha256:${createHash("sha256").update(content).digest("hex")}`;
      if (content.length === size && begunMs - mtime >= settledMs) this.#keep(key, { mtime, size, hash });
      return hash;
    } catch (error) {
      if (error instanceof FileSystemError) return error.code === "FileNotFound" ? null : undefined;
      throw error;
    }
  };

  #keep(key: string, known: KnownHash): void {
    this.#known.set(key, known);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= maxKept) break;
      this.#known.delete(oldest);
    }
  }
}

const hashes = new FileHashes(() => Date.now());

/** Hashes a file of the workspace, by the kernel's path. */
export const hashOfFile: HashOf = hashes.of;
