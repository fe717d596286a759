import { v7 } from "uuid";

/** Random bytes are fetched for many ids at once: one by one they cost more than all the rest of an id. */
const pool = new Uint8Array(16 * 256);
let used = pool.length;
let lastMs = 0;
let sequence = 0;

/** UUIDv7: sorts by the time it was made, within a process also in the same millisecond; unique between processes. */
export function newId(): string {
  if (used === pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  const random = pool.subarray(used, (used += 16));
  const nowMs = Date.now();
  if (nowMs > lastMs) {
    lastMs = nowMs;
    // 31 bits, so that counting up from it does not overflow within any millisecond.
    sequence = new DataView(random.buffer, random.byteOffset).getUint32(6) >>> 1;
  } else sequence++;
  return v7({ random, msecs: lastMs, seq: sequence });
}

/** Text that nobody can guess: 122 random bits. */
export function newSecret(): string {
  return crypto.randomUUID();
}
