import { createHash, type Hash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { storageFailure } from "./storage-failure.ts";

const pieceBytes = 1024 * 1024;

/** The file of a download that may be continued, with the digest of what it has so far. */
export class PartialFile {
  readonly #file: FileHandle;
  readonly #path: string;
  #hash: Hash = createHash("sha256");
  #size = 0;

  private constructor(file: FileHandle, path: string) {
    this.#file = file;
    this.#path = path;
  }

  static async open(path: string, { maxBytes }: { readonly maxBytes: number }): Promise<PartialFile> {
    // Windows has no O_NOFOLLOW.
    const flags = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
    const file = await open(path, flags, 0o600).catch((error: unknown) => {
      throw storageFailure(`"${path}" cannot be written`, error);
    });
    const part = new PartialFile(file, path);
    try {
      if ((await file.stat()).size > maxBytes) await part.clear();
      else await part.#readOn();
      return part;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get size(): number {
    return this.#size;
  }

  digest(): string {
    return this.#hash.copy().digest("hex");
  }

  async append(bytes: Uint8Array): Promise<void> {
    try {
      for (let at = 0; at < bytes.length;)
        at += (await this.#file.write(bytes, at, bytes.length - at, this.#size + at)).bytesWritten;
    } catch (error) {
      throw storageFailure(`"${this.#path}" cannot be written`, error);
    }
    this.#hash.update(bytes);
    this.#size += bytes.length;
  }

  async clear(): Promise<void> {
    await this.#file.truncate(0);
    this.#hash = createHash("sha256");
    this.#size = 0;
  }

  async flush(): Promise<void> {
    await this.#file.sync();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #readOn(): Promise<void> {
    const buffer = new Uint8Array(pieceBytes);
    for (;;) {
      const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, this.#size);
      if (bytesRead === 0) return;
      this.#hash.update(buffer.subarray(0, bytesRead));
      this.#size += bytesRead;
    }
  }
}
