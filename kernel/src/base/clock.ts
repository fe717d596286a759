/** Where the kernel gets the time from. Injected everywhere, so that a test can hold it in its hand. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
  /** Milliseconds from an arbitrary start; never goes backwards. For durations. */
  monotonic(): number;
  /** Calls `run` once after `delayMs`; disposing the result before that cancels it. Never keeps the process alive. */
  timer(delayMs: number, run: () => void): Disposable;
}

let lastMs = Number.NaN;
let lastText = "";

/** UTC, ISO 8601, milliseconds: the only form in which time is written down. */
export function isoTime(epochMs: number): string {
  // Much is written down within one millisecond, and this costs more than hashing it.
  if (epochMs !== lastMs) [lastText, lastMs] = [new Date(epochMs).toISOString(), epochMs];
  return lastText;
}
