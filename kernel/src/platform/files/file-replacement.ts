import { randomBytes } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { storageFailure } from "./storage-failure.ts";

/**
 * A file that is written beside another and takes its place as a whole, for what is too large to be held in memory.
 * Until `rename` the old one stands as it is; disposed before that, nothing of the new one is left. What a process that
 * died leaves of it is removed by `removeLeftoverTemporaries`. Every failure is a StorageError.
 */
export class FileReplacement implements AsyncDisposable {
  readonly #path: string;
  readonly #temporary: string;
  readonly #handle: FileHandle;
  #size = 0;
  #isRenamed = false;
  #hasFailed = false;

  private constructor(path: string, temporary: string, handle: FileHandle) {
    this.#path = path;
    this.#temporary = temporary;
    this.#handle = handle;
  }

  static async begin(path: string): Promise<FileReplacement> {
    const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
    try {
      // "wx": never through a link that somebody placed under our temporary name.
      return new FileReplacement(path, temporary, await open(temporary, "wx", 0o600));
    } catch (error) {
      throw storageFailure(`Could not write "${temporary}"`, error);
    }
  }

  /** Bytes written. */
  get size(): number {
    return this.#size;
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#guarded("write", async () => {
      for (let written = 0; written < bytes.byteLength;) {
        const { bytesWritten } = await this.#handle.write(bytes, written, bytes.byteLength - written);
        written += bytesWritten;
      }
      this.#size += bytes.byteLength;
    });
  }

  /** Resolves when what was written is on the disk. */
  synchronize(): Promise<void> {
    return this.#guarded("bring to the disk", () => this.#handle.sync());
  }

  /** Only lasting once the folder is synchronized. */
  rename(): Promise<void> {
    return this.#guarded("put in its place", async () => {
      await rename(this.#temporary, this.#path);
      this.#isRenamed = true;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const failedBefore = this.#hasFailed;
    try {
      await this.#guarded("close", () => this.#handle.close());
      if (!this.#isRenamed) await this.#guarded("remove", () => rm(this.#temporary, { force: true }));
    } catch (error) {
      // What went wrong first is what is told; a temporary file that stays is removed later.
      if (!failedBefore) throw error;
    }
  }

  async #guarded<T>(what: string, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      this.#hasFailed = true;
      throw storageFailure(`Could not ${what} the new form of "${this.#path}"`, error);
    }
  }
}
