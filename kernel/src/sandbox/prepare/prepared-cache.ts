import type { Log } from "../../base/log.ts";
import { messageOf } from "../../base/errors.ts";
import type { CacheFolder } from "../../platform/files/cache-folder.ts";
import { prepareVersion } from "./prepare-module.ts";

/** Bytes of prepared modules that are kept in memory. */
const maxCachedBytes = 64 * 1024 * 1024;

/** A prepared module, with the key by which the sandbox host knows it. */
export interface PreparedProgram {
  readonly key: string;
  readonly bytes: Uint8Array;
}

/**
 * Prepares each module once. The key is the hash of the input, `prepareVersion` and the memory maximum. A module
 * from the disk cache runs unchecked, because the cache folder returns exactly what was stored.
 */
export class PreparedCache {
  readonly #held = new Map<string, Promise<PreparedProgram>>();
  readonly #sizes = new Map<string, number>();
  readonly #folder: CacheFolder | undefined;
  readonly #log: Log;

  constructor(folder: CacheFolder | undefined, log: Log) {
    this.#folder = folder;
    this.#log = log;
  }

  /** Calls `prepare` only if nothing is cached; its errors are not cached. */
  async get(
    input: Uint8Array,
    maxMemoryMb: number,
    prepare: () => Promise<Uint8Array>,
  ): Promise<PreparedProgram> {
    const key = `${hex(await sha256(input))}-v${prepareVersion}-${maxMemoryMb}`;
    const held = this.#held.get(key);
    if (held !== undefined) {
      // Deleted and inserted again: the first entry of the map is the least recently used.
      this.#held.delete(key);
      this.#held.set(key, held);
      return held;
    }
    const made = this.#make(key, prepare);
    this.#held.set(key, made);
    try {
      const program = await made;
      this.#sizes.set(key, program.bytes.length);
      this.#evict();
      return program;
    } catch (error) {
      this.#held.delete(key);
      throw error;
    }
  }

  async #make(key: string, prepare: () => Promise<Uint8Array>): Promise<PreparedProgram> {
    const stored = await this.#read(key);
    if (stored !== null) return { key, bytes: stored };
    const bytes = await prepare();
    await this.#write(key, bytes);
    return { key, bytes };
  }

  async #read(key: string): Promise<Uint8Array | null> {
    if (this.#folder === undefined) return null;
    try {
      return await this.#folder.read(`${key}.wasm`);
    } catch (error) {
      this.#log.warn("the cache of prepared modules cannot be read", { key, error: messageOf(error) });
      return null;
    }
  }

  async #write(key: string, bytes: Uint8Array): Promise<void> {
    if (this.#folder === undefined) return;
    try {
      await this.#folder.write(`${key}.wasm`, bytes);
    } catch (error) {
      this.#log.warn("a prepared module cannot be cached", { key, error: messageOf(error) });
    }
  }

  #evict(): void {
    let total = [...this.#sizes.values()].reduce((sum, size) => sum + size, 0);
    for (const key of this.#held.keys()) {
      if (total <= maxCachedBytes || this.#held.size <= 1) return;
      const size = this.#sizes.get(key);
      if (size === undefined) continue;
      this.#held.delete(key);
      this.#sizes.delete(key);
      total -= size;
    }
  }
}

async function sha256(bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
