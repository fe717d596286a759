import { v7 } from "uuid";

/** Random bytes are fetched for many ids at once: fetching them one by one would cost more than the rest of an id. */
const pool = new Uint8Array(16 * 256);
let used = pool.length;
let lastMs = 0;
let sequence = 0;

/** Returns a UUIDv7: unique, and sorted by creation time, within a process even in the same millisecond. */
export function newId(): string {
  if (used === pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  const random = pool.subarray(used, (used += 16));
  const nowMs = Date.now();
  if (nowMs > lastMs) {
    lastMs = nowMs;
    // 31 bits, so that counting up from it cannot overflow within a millisecond.
    sequence = new DataView(random.buffer, random.byteOffset).getUint32(6) >>> 1;
  } else sequence++;
  return v7({ random, msecs: lastMs, seq: sequence });
}

/** Returns a text that cannot be guessed: 122 random bits. */
export function newSecret(): string {
  return crypto.randomUUID();
}
