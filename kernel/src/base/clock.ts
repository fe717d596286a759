/** The kernel's only source of time. Injected everywhere, so that a test can control it. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
  /** Milliseconds from an arbitrary start; never goes backwards. For durations. */
  monotonic(): number;
  /**
   * Calls `run` once, no earlier than `delayMs` from now by `monotonic`; disposing the result before that cancels it.
   * Never keeps the process alive. `now` may have been set back meanwhile, so what falls due with the timer says so
   * itself instead of comparing times again.
   */
  timer(delayMs: number, run: () => void): Disposable;
}

let lastMs = Number.NaN;
let lastText = "";

/** Formats a time as UTC in ISO 8601 with milliseconds: the only form in which the kernel stores times. */
export function isoTime(epochMs: number): string {
  // Many records are written within the same millisecond, and formatting a date costs more than hashing a record.
  if (epochMs !== lastMs) [lastText, lastMs] = [new Date(epochMs).toISOString(), epochMs];
  return lastText;
}
