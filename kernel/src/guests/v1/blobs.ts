import type { Caller } from "../../agents/ports.ts";
import { invalidParams } from "../../base/errors.ts";
import type { blobCalls } from "../../protocol/guest/v1/blobs.ts";
import type { GuestServices } from "../../protocol/guest/v1/calls.ts";

/** The guest ABI's `blobs/*`: an agent's own bytes, so policy has nothing to decide. */
export const blobServices: Pick<GuestServices<Caller>, keyof typeof blobCalls> = {
  "blobs/write": async ({ blobs }, { blob, base64 }) => {
    const bytes = Buffer.from(base64, "base64");
    if (bytes.toString("base64") !== base64)
      throw invalidParams('"base64" must be standard Base64, padded.', { path: "base64" });
    return { blob: blobs.write(bytes, blob) };
  },
  "blobs/read": async ({ blobs }, { blob, offset = 0, length }) => {
    const { bytes, eof } = blobs.read(blob, offset, length);
    return { base64: Buffer.from(bytes).toString("base64"), eof };
  },
};
