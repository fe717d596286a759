import { randomFillSync } from "node:crypto";

/** Asked for at once: a call of the system's source costs more than all the rest of a short text. */
const pool = Buffer.allocUnsafeSlow(8 * 1024);
let used = pool.length;

/** `byteCount` bytes (at most 8 KiB) from the system's cryptographic source, as lower-case hexadecimal digits. */
export function randomHex(byteCount: number): string {
  if (used + byteCount > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const text = pool.toString("hex", used, used + byteCount);
  // Nobody who later reads this process's memory finds what was given out.
  pool.fill(0, used, used + byteCount);
  used += byteCount;
  return text;
}
