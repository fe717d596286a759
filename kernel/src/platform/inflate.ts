import { crc32, gunzipSync, inflateRawSync } from "node:zlib";
import { systemCode } from "../base/errors.ts";

/**
 * Inflates a raw deflate stream to exactly `size` bytes and never more. Returns null if the stream is broken, longer, shorter, or
 * does not use all of its bytes.
 */
export function inflateExactly(packed: Uint8Array, size: number): Uint8Array | null {
  // Zero would mean no limit.
  if (size === 0) return null;
  try {
    // The declared type leaves out what `info` adds.
    const { buffer, engine } = inflateRawSync(packed, {
      maxOutputLength: size,
      info: true,
    }) as unknown as { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
    return buffer.length === size && engine.bytesWritten === packed.length ? buffer : null;
  } catch (error) {
    const code = systemCode(error);
    if (code.startsWith("Z_") || code === "ERR_BUFFER_TOO_LARGE") return null;
    throw error;
  }
}

/** Unpacks gzip to at most `maxBytes` and never more. Returns null if it is broken or longer. */
export function gunzipAtMost(packed: Uint8Array, maxBytes: number): Uint8Array | null {
  try {
    return gunzipSync(packed, { maxOutputLength: maxBytes });
  } catch (error) {
    const code = systemCode(error);
    if (code.startsWith("Z_") || code === "ERR_BUFFER_TOO_LARGE") return null;
    throw error;
  }
}

/** The CRC-32 of zip archives. */
export const checksum = (bytes: Uint8Array): number => crc32(bytes);
