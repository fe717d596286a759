import { randomFillSync } from "node:crypto";

/** Fetched in advance, because one call of the system's source costs more than the rest of a short text. */
const pool = Buffer.allocUnsafeSlow(8 * 1024);
let used = pool.length;

/** Returns `byteCount` bytes (at most 8 KiB) of the system's cryptographic source, as lower-case hexadecimal digits. */
export function randomHex(byteCount: number): string {
  if (used + byteCount > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const text = pool.toString("hex", used, used + byteCount);
  // Cleared, so that this process's memory does not reveal returned values later.
  pool.fill(0, used, used + byteCount);
  used += byteCount;
  return text;
}
