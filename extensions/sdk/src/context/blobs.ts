import type { maxReadBytes } from "../../../../kernel/src/base/vocabulary/bounds.ts";
import { base64Of, bytesOf, joined } from "./bytes.ts";
import type { Kernel } from "./kernel.ts";

/** Bytes in one message. */
const pieceBytes: typeof maxReadBytes = 262_144;

/** Gives the kernel bytes that do not fit a message; returns the blob's id. */
export async function blobOf(kernel: Kernel, bytes: Uint8Array): Promise<string> {
  let { blob } = await kernel.call("blobs/write", { base64: base64Of(bytes.subarray(0, pieceBytes)) });
  for (let at = pieceBytes; at < bytes.length; at += pieceBytes)
    ({ blob } = await kernel.call("blobs/write", {
      blob,
      base64: base64Of(bytes.subarray(at, at + pieceBytes)),
    }));
  return blob;
}

export async function bytesOfBlob(kernel: Kernel, blob: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { base64, eof } = await kernel.call("blobs/read", { blob, offset: size, length: pieceBytes });
    const piece = bytesOf(base64);
    pieces.push(piece);
    size += piece.length;
    if (eof) return joined(pieces, size);
  }
}
