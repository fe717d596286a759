import { invalidParams, limitExceeded, notFound } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { Blobs } from "../ports.ts";

/** What one agent may keep: bytes in all, and blobs. */
export const blobLimits = { bytes: 64 * 1024 * 1024, count: 1_000 } as const;

/** Smaller pieces are copied together: each costs memory of its own, which does not count as the agent's. */
const minPieceBytes = 64 * 1024;

interface Blob {
  readonly pieces: Uint8Array[];
  /** Small pieces that came last. Its capacity doubles, so that a byte is copied a few times only. */
  tail: Buffer;
  tailBytes: number;
}

/** The blobs of one agent, in memory. */
export class GuestBlobs implements Blobs {
  readonly #blobs = new Map<string, Blob>();
  #bytes = 0;
  /** Bytes that are on their way. */
  #reserved = 0;

  write(bytes: Uint8Array, id?: string): string {
    const blob = id === undefined ? { pieces: [], tail: Buffer.alloc(0), tailBytes: 0 } : this.#existing(id);
    this.#checkRoom(bytes.length, id === undefined ? 1 : 0);
    this.#bytes += bytes.length;
    append(blob, bytes);
    if (id !== undefined) return id;
    const fresh = newId();
    this.#blobs.set(fresh, blob);
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
    seal(blob);
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

  #existing(id: string): Blob {
    const blob = this.#blobs.get(id);
    if (blob === undefined) throw notFound("blob", id);
    return blob;
  }
}

function append(blob: Blob, bytes: Uint8Array): void {
  if (bytes.length >= minPieceBytes) {
    seal(blob);
    blob.pieces.push(bytes);
    return;
  }
  const size = blob.tailBytes + bytes.length;
  if (size > blob.tail.length) {
    const grown = Buffer.alloc(Math.max(size, 2 * blob.tail.length));
    grown.set(blob.tail.subarray(0, blob.tailBytes));
    blob.tail = grown;
  }
  blob.tail.set(bytes, blob.tailBytes);
  blob.tailBytes = size;
  if (size >= minPieceBytes) seal(blob);
}

/** Makes a piece of the tail. */
function seal(blob: Blob): void {
  if (blob.tailBytes === 0) return;
  blob.pieces.push(blob.tail.subarray(0, blob.tailBytes));
  blob.tail = Buffer.alloc(0);
  blob.tailBytes = 0;
}
