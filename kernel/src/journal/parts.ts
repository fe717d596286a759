import { neverAborted } from "../base/abort.ts";
import { invalidParams, isLaresError, limitExceeded } from "../base/errors.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { ObjectStore } from "../platform/files/object-store.ts";
import type { FirstBad } from "./scan.ts";
import { maxPartsPerRecord } from "./record.ts";

/** A content of more bytes than this belongs in a part instead of in the record's data. */
export const maxInlineBytes = 64 * 1024;
const maxPartBytes = 64 * 1024 * 1024;
const objectsTurn = "objects";

/** A content in the object store. It stays there until it is disposed, and as long as a record names it. */
export interface Part extends Disposable {
  readonly hash: Hash;
  readonly bytes: number;
}

/** The contents that a journal's records name by hash. Contents that nothing names are removed. */
export class Parts {
  readonly #given: ObjectStore | undefined;
  readonly #sizes: Map<Hash, number>;
  /** Contents that a record may soon name, with the number of their holders. */
  readonly #held = new Map<Hash, number>();
  /** While unnamed contents are looked for: what was held since that began. */
  #heldMeanwhile: Set<Hash> | null = null;
  /** Unbounded: an append waits for its parts, and whoever appends bounds its own appends. */
  readonly #turns = new OneAtATime();
  #bytes: number;

  private constructor(objects: ObjectStore | undefined, sizes: ReadonlyMap<Hash, number>) {
    this.#given = objects;
    this.#sizes = new Map(sizes);
    this.#bytes = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Without an object store there are no parts. */
  static async open(objects: ObjectStore | undefined): Promise<Parts> {
    return new Parts(objects, objects === undefined ? new Map<Hash, number>() : await objects.sizes());
  }

  /** Bytes of all contents. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Stores a content; resolves when it is on the disk. LimitExceeded if it has more than 64 MiB. */
  keep(content: Uint8Array): Promise<Part> {
    const bytes = content.byteLength;
    if (bytes > maxPartBytes) {
      const message = `A content of ${bytes} bytes is too large: at most ${maxPartBytes} are kept with a record. Keep it in a file, and its path in the record.`;
      throw limitExceeded("part_bytes", bytes, message);
    }
    // In one turn, so that nothing removes the content before it is held.
    return this.#turns.run(objectsTurn, async () => {
      const hash = await this.#objects.put(content);
      if (!this.#sizes.has(hash)) this.#bytes += bytes;
      this.#sizes.set(hash, bytes);
      return this.#hold(hash, bytes);
    });
  }

  /** Throws InvalidParams if a record may not name these, because there are too many or one is no longer held. */
  checkNamed(parts: readonly { readonly hash: Hash }[]): void {
    if (parts.length > maxPartsPerRecord)
      throw invalidParams(`A record names at most ${maxPartsPerRecord} parts, not ${parts.length}.`);
    const lost = parts.find(({ hash }) => !this.#held.has(hash));
    if (lost !== undefined)
      throw invalidParams(`The part ${lost.hash} was disposed of before its record was appended.`);
  }

  /** Yields a content's bytes. StorageError if it is missing or is not what was stored. */
  read(hash: Hash): AsyncGenerator<Uint8Array, void, void> {
    return this.#objects.stream(hash);
  }

  /** Returns the first record whose part is missing or is not what was stored; see `verifyParts`. */
  async verify(named: ReadonlyMap<Hash, number>, signal?: AbortSignal): Promise<FirstBad | null> {
    return named.size === 0 ? null : await verifyParts(this.#objects, named, signal);
  }

  /** Removes the contents that `findNamed` does not find, except those that are held. One call at a time. */
  async dropUnnamed(findNamed: () => Promise<ReadonlyMap<Hash, number>>): Promise<void> {
    if (this.#sizes.size === 0) return;
    const held = new Set(this.#held.keys());
    this.#heldMeanwhile = held;
    try {
      const named = await findNamed();
      await this.#turns.run(objectsTurn, async () => {
        const dropped = [...this.#sizes].filter(([hash]) => !named.has(hash) && !held.has(hash));
        if (dropped.length === 0) return;
        await this.#objects.sweep(new Set([...named.keys(), ...held]));
        for (const [hash, bytes] of dropped) {
          this.#sizes.delete(hash);
          this.#bytes -= bytes;
        }
      });
    } finally {
      this.#heldMeanwhile = null;
    }
  }

  get #objects(): ObjectStore {
    if (this.#given === undefined) throw new Error("This journal was opened without an object store.");
    return this.#given;
  }

  #hold(hash: Hash, bytes: number): Part {
    this.#held.set(hash, (this.#held.get(hash) ?? 0) + 1);
    this.#heldMeanwhile?.add(hash);
    let isHeld = true;
    return {
      hash,
      bytes,
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        const others = (this.#held.get(hash) ?? 1) - 1;
        if (others === 0) this.#held.delete(hash);
        else this.#held.set(hash, others);
      },
    };
  }
}

/** Reads every named content. Returns the first record of which one is missing or is not what was stored. */
export async function verifyParts(
  objects: Pick<ObjectStore, "stream">,
  named: ReadonlyMap<Hash, number>,
  signal = neverAborted,
): Promise<FirstBad | null> {
  for (const [hash, seq] of named) {
    try {
      // The store compares the hash when the last piece was read.
      for await (const _piece of objects.stream(hash)) signal.throwIfAborted();
    } catch (error) {
      if (!isLaresError(error, "StorageError")) throw error;
      return { seq, reason: `its part ${hash} is missing or is not what was stored` };
    }
  }
  return null;
}
