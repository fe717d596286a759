import { type FileHandle, link, lstat, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { invalidParams, LaresError, systemCode } from "../../base/errors.ts";
import { syncFolder } from "./atomic-file.ts";
import { DataFile } from "./data-files.ts";
import { failpoint } from "../failpoint.ts";
import { openPlainFile, UnusableFile } from "./plain-file.ts";
import { randomHex } from "../random.ts";
import { storageFailure } from "./storage-failure.ts";

/** Files that a person chose, anywhere on the machine, for exports and imports. */

/** The error codes of file systems without hard links. */
const noLinks: ReadonlySet<unknown> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/**
 * A file that is written under a hidden name in its target folder and gets its own name when it is complete, so
 * that readers find all of it or nothing. Mode 0600. Disposing it before `keep` removes it.
 */
export class NewFile implements AsyncDisposable {
  readonly path: string;
  readonly temporaryPath: string;
  readonly #file: DataFile;
  readonly #overwrite: boolean;
  #isClosed = false;
  #isKept = false;

  private constructor(path: string, temporaryPath: string, handle: FileHandle, overwrite: boolean) {
    this.path = path;
    this.temporaryPath = temporaryPath;
    this.#file = new DataFile(handle, temporaryPath, 0);
    this.#overwrite = overwrite;
  }

  /**
   * Throws InvalidParams if the path is not absolute, its folder is missing, or something other than a regular file
   * has the name; Conflict if a file exists and `overwrite` is false.
   */
  static async create(path: string, { overwrite }: { readonly overwrite: boolean }): Promise<NewFile> {
    await checkTarget(path, overwrite);
    const temporaryPath = join(dirname(path), `.lares-export.${randomHex(6)}.tmp`);
    try {
      // "wx" does not follow a link that another program put at the temporary name.
      const handle = await open(temporaryPath, "wx+", 0o600);
      failpoint("chosen-file.created");
      return new NewFile(path, temporaryPath, handle, overwrite);
    } catch (error) {
      throw storageFailure(`Could not write in "${dirname(path)}"`, error);
    }
  }

  /** Bytes written so far. */
  get size(): number {
    return this.#file.size;
  }

  append(bytes: Uint8Array): Promise<void> {
    return this.#file.append(bytes);
  }

  /** Fills the buffer from `position` as far as the file goes; resolves to the number of bytes read. */
  readInto(buffer: Uint8Array, position: number): Promise<number> {
    return this.#file.readInto(buffer, position);
  }

  /** Resolves when the complete file is at its path, on the disk. */
  async keep(): Promise<void> {
    try {
      await this.#file.synchronize();
      failpoint("chosen-file.synced");
      await this.#close();
      await this.#name();
      this.#isKept = true;
      failpoint("chosen-file.named");
      await syncFolder(dirname(this.path));
    } catch (error) {
      throw storageFailure(`Could not write "${this.path}"`, error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isKept) return;
    try {
      await this.#close();
      await rm(this.temporaryPath, { force: true });
    } catch {
      // The first error is already being thrown. A disk that refuses removals keeps a hidden file.
    }
  }

  async #close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#file[Symbol.asyncDispose]();
  }

  async #name(): Promise<void> {
    if (!this.#overwrite) {
      try {
        // Unlike a rename, it fails if the file was created meanwhile.
        await link(this.temporaryPath, this.path);
        await rm(this.temporaryPath);
        return;
      } catch (error) {
        const code = systemCode(error);
        if (code === "EEXIST") throw alreadyThere(this.path);
        if (!noLinks.has(code)) throw error;
      }
    }
    await checkTarget(this.path, this.#overwrite);
    await rename(this.temporaryPath, this.path);
  }
}

/** Opens a regular file for reading, following links. Throws InvalidParams for anything else. */
export async function openChosenFile(path: string): Promise<DataFile> {
  checkAbsolute(path);
  try {
    const real = await realpath(path);
    const handle = await openPlainFile(real, "read");
    return new DataFile(handle, real, (await handle.stat()).size);
  } catch (error) {
    if (error instanceof UnusableFile) throw invalidParams(`"${path}" is not a regular file.`, { path });
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") throw invalidParams(`There is no file "${path}".`, { path });
    throw storageFailure(`Could not read "${path}"`, error);
  }
}

async function checkTarget(path: string, overwrite: boolean): Promise<void> {
  checkAbsolute(path);
  try {
    const found = await lstat(path).catch(orNull);
    if (found?.isDirectory() === true)
      throw invalidParams(`"${path}" is a folder. Name a file in it.`, { path });
    if (found !== null && !found.isFile()) {
      throw invalidParams(
        `"${path}" is not a regular file, so nothing is written there. Choose another name.`,
        {
          path,
        },
      );
    }
    if (found !== null && !overwrite) throw alreadyThere(path);
    const folder = await stat(dirname(path)).catch(orNull);
    if (folder?.isDirectory() !== true || basename(path) === "")
      throw invalidParams(`There is no folder "${dirname(path)}". Create it first.`, { path });
  } catch (error) {
    throw storageFailure(`Could not write "${path}"`, error);
  }
}

function checkAbsolute(path: string): void {
  if (!isAbsolute(path) || path.includes("\0"))
    throw invalidParams(`"${path}" is not an absolute path. Start it at the root.`, { path });
}

function alreadyThere(path: string): LaresError {
  return new LaresError(
    "Conflict",
    `The file "${path}" already exists. Choose another name, or say that it may be replaced (overwrite; --force).`,
    { path },
  );
}

function orNull(error: unknown): null {
  const code = systemCode(error);
  if (code === "ENOENT" || code === "ENOTDIR") return null;
  throw error;
}
