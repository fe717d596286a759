import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { CacheFolder } from "../../platform/files/cache-folder.ts";
import { sha256Hex } from "../../platform/files/hash.ts";
import type { BundledProgram } from "./bundled-program.ts";
import type { Answer } from "./build-inputs.ts";

/** Changes whenever the same sources are bundled into other bytes. */
const bundleVersion = 2;

/** A bundle, and the answers of both folders from which it was built. */
interface StoredBundle {
  readonly program: BundledProgram;
  readonly answers: { readonly program: readonly Answer[]; readonly sdk: readonly Answer[] };
}

/**
 * Bundles on the disk, so that the next kernel need not start the bundler. What a bundle was built from is stored with it
 * and compared by whoever reads it; the cache folder returns exactly what was stored.
 */
export class BundleCache {
  readonly #folder: Pick<CacheFolder, "read" | "write">;
  readonly #kernelVersion: string;
  readonly #log: Log;
  /** What waits is held by the bundler too, which bounds it. */
  #writing: Promise<void> = Promise.resolve();

  /** The version stands for that of the bundler, which is installed with the kernel. */
  constructor(folder: Pick<CacheFolder, "read" | "write">, kernelVersion: string, log: Log) {
    this.#folder = folder;
    this.#kernelVersion = kernelVersion;
    this.#log = log;
  }

  /** `key` names the program. Returns null if there is none. */
  async read(key: string): Promise<StoredBundle | null> {
    try {
      const stored = await this.#folder.read(this.#nameOf(key));
      return stored === null ? null : decode(stored);
    } catch (error) {
      this.#log.warn("The cache of bundles cannot be read.", { error: messageOf(error) });
      return null;
    }
  }

  /** Waits for earlier writes: at a first start with a thousand programs, all come at once. */
  write(key: string, bundle: StoredBundle): Promise<void> {
    this.#writing = this.#writing.then(() => this.#store(key, bundle));
    return this.#writing;
  }

  async #store(key: string, bundle: StoredBundle): Promise<void> {
    try {
      await this.#folder.write(this.#nameOf(key), encode(bundle));
    } catch (error) {
      this.#log.warn("A bundle cannot be cached.", { error: messageOf(error) });
    }
  }

  #nameOf(key: string): string {
    return `${sha256Hex(JSON.stringify([bundleVersion, this.#kernelVersion, key]))}.bundle`;
  }
}

/** The header's length in four bytes, the header in JSON, and the bytes of the program. */
function encode({ program: { bytes, ...rest }, answers }: StoredBundle): Uint8Array {
  const header = new TextEncoder().encode(JSON.stringify({ program: rest, answers }));
  const stored = new Uint8Array(4 + header.length + bytes.length);
  new DataView(stored.buffer).setUint32(0, header.length);
  stored.set(header, 4);
  stored.set(bytes, 4 + header.length);
  return stored;
}

function decode(stored: Uint8Array): StoredBundle {
  const end = 4 + new DataView(stored.buffer, stored.byteOffset).getUint32(0);
  const { program, answers } = JSON.parse(new TextDecoder().decode(stored.subarray(4, end))) as {
    program: Omit<BundledProgram, "bytes">;
    answers: StoredBundle["answers"];
  };
  return { program: { ...program, bytes: stored.slice(end) }, answers };
}
