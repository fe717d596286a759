import { createHash, hash } from "node:crypto";
import { open } from "node:fs/promises";
import type { Hash } from "../../base/vocabulary/common.ts";

/** Bytes per read: large enough to be fast, small enough for many concurrent reads. */
const pieceBytes = 256 * 1024;

/** The part of a file handle that hashing needs. */
interface ReadableHandle {
  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
}

/** SHA-256 as 64 lower-case hexadecimal digits, without a prefix. A string is hashed as UTF-8. */
export function sha256Hex(bytes: Uint8Array | string): string {
  return hash("sha256", bytes, "hex");
}

/** SHA-256 of bytes that arrive in pieces. */
export interface Sha256Sum {
  /** A string is hashed as UTF-8. */
  update(bytes: Uint8Array | string): Sha256Sum;
  /** Returns 32 bytes, the digest of what arrived so far. */
  digest(): Uint8Array;
  /** Returns a sum of what arrived so far, which goes its own way. */
  copy(): Sha256Sum;
}

export function sha256Sum(from = createHash("sha256")): Sha256Sum {
  return {
    update(bytes) {
      from.update(bytes);
      return this;
    },
    digest: () => from.copy().digest(),
    copy: () => sha256Sum(from.copy()),
  };
}

/** SHA-256 in the form the vocabulary uses: `sha256:` and 64 hexadecimal digits. */
export function sha256(bytes: Uint8Array | string): Hash {
  return `sha256:${sha256Hex(bytes)}`;
}

/** SHA-256 of a whole file, streamed: of an open handle (which stays open) or of a path (Node's own errors). */
export async function sha256File(file: ReadableHandle | string): Promise<Hash> {
  if (typeof file === "string") {
    await using handle = await open(file, "r");
    return await sha256File(handle);
  }
  const digest = createHash("sha256");
  const piece = new Uint8Array(pieceBytes);
  for (let position = 0; ;) {
    const { bytesRead } = await file.read(piece, 0, piece.byteLength, position);
    if (bytesRead === 0) return `sha256:${digest.digest("hex")}`;
    digest.update(piece.subarray(0, bytesRead));
    position += bytesRead;
  }
}
