import { createHash } from "node:crypto";
import { FileSystemError, FileType, workspace } from "vscode";
import type { Effect } from "../protocol.ts";
import type { HashOf } from "./drift.ts";
import { uriOf } from "./uris.ts";

/** Larger files are not read here; the kernel knows. */
const maxBytes = 10 * 1024 * 1024;
/** Files whose hash is kept; the one that was not asked for longest goes first. */
export const maxKept = 1_000;
/**
 * A file that was written so shortly before it was read may be written again without another time or size: its hash is
 * not kept. As long as the coarsest clock of a file system.
 */
export const settledMs = 2_000;

interface KnownHash {
  readonly mtime: number;
  readonly size: number;
  readonly hash: NonNullable<Effect["before"]>;
}

/** Hashes of the workspace's files; what has neither another time nor another size is not read again. */
export class FileHashes {
  readonly #nowMs: () => number;
  readonly #known = new Map<string, KnownHash>();

  /** `nowMs`: the time by the clock that files are dated with. */
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

/** Of a file of the workspace, by the kernel's path. */
export const hashOfFile: HashOf = hashes.of;
