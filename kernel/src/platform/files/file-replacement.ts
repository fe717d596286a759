import { randomBytes } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { storageFailure } from "./storage-failure.ts";

/**
 * A file that is written beside another one and replaces it as a whole, for content too large for memory. The old
 * file stays until `rename`; disposing before that removes the new one. `removeLeftoverTemporaries` removes what a
 * dead process left. Every failure is a StorageError.
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
      // "wx" does not follow a link that another program put at the temporary name.
      return new FileReplacement(path, temporary, await open(temporary, "wx", 0o600));
    } catch (error) {
      throw storageFailure(`Could not write "${temporary}"`, error);
    }
  }

  /** Bytes written so far. */
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

  /** Resolves when the written bytes are on the disk. */
  synchronize(): Promise<void> {
    return this.#guarded("bring to the disk", () => this.#handle.sync());
  }

  /** Durable only after the folder is synchronized. */
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
      // The first error is reported; a temporary file that remains is removed later.
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
