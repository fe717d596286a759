import { invalidParams, limitExceeded, notFound } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { Blobs } from "../ports.ts";

/** What one agent may keep: bytes in all, and blobs. */
export const blobLimits = { bytes: 64 * 1024 * 1024, count: 1_000 } as const;

/** Smaller pieces are joined: each costs memory of its own, which does not count as the agent's. */
const minPieceBytes = 64 * 1024;

/** The blobs of one agent, in memory. */
export class GuestBlobs implements Blobs {
  readonly #blobs = new Map<string, { readonly pieces: Uint8Array[]; size: number }>();
  #bytes = 0;
  /** Bytes that are on their way. */
  #reserved = 0;

  write(bytes: Uint8Array, id?: string): string {
    const known = id === undefined ? { pieces: [], size: 0 } : this.#existing(id);
    this.#checkRoom(bytes.length, id === undefined ? 1 : 0);
    this.#bytes += bytes.length;
    const last = known.pieces.at(-1);
    if (last !== undefined && last.length < minPieceBytes)
      known.pieces.splice(-1, 1, Buffer.concat([last, bytes]));
    else known.pieces.push(bytes);
    known.size += bytes.length;
    if (id !== undefined) return id;
    const fresh = newId();
    this.#blobs.set(fresh, known);
    return fresh;
  }

  read(id: string, offset: number, length: number): { readonly bytes: Uint8Array; readonly eof: boolean } {
    const all = this.whole(id);
    if (offset > all.length)
      throw invalidParams(`offset is ${offset}, and the blob has ${all.length} bytes.`, { path: "offset" });
    return { bytes: all.subarray(offset, offset + length), eof: offset + length >= all.length };
  }

  whole(id: string): Uint8Array {
    const blob = this.#existing(id);
    const [first = new Uint8Array(), ...others] = blob.pieces;
    if (others.length === 0) return first;
    // Joined once, however it is read afterwards.
    const joined = Buffer.concat(blob.pieces);
    blob.pieces.splice(0, Infinity, joined);
    return joined;
  }

  reserve(bytes: number): Disposable {
    this.#checkRoom(bytes, 1);
    this.#reserved += bytes;
    let held = bytes;
    return {
      [Symbol.dispose]: () => {
        this.#reserved -= held;
        held = 0;
      },
    };
  }

  /** Drops all: the handlers that had them have ended. */
  clear(): void {
    this.#blobs.clear();
    this.#bytes = 0;
  }

  #checkRoom(bytes: number, blobs: number): void {
    const together = this.#bytes + this.#reserved + bytes;
    if (together <= blobLimits.bytes && this.#blobs.size + blobs <= blobLimits.count) return;
    throw limitExceeded(
      "blobs",
      together,
      `An agent may keep ${blobLimits.count} blobs with ${blobLimits.bytes / 1024 / 1024} MiB in all until its handlers have ended.`,
    );
  }

  #existing(id: string): { readonly pieces: Uint8Array[]; size: number } {
    const blob = this.#blobs.get(id);
    if (blob === undefined) throw notFound("blob", id);
    return blob;
  }
}
