/** Waiting before the n-th try (1 is the first retry): 100 ms, doubled each time, at most 10 s. */
export function backoffMs(attempt: number): number {
  return Math.min(10_000, 100 * 2 ** Math.max(0, attempt - 1));
}

/** A delivery that took its guest down this often is set aside, so that the queue behind it moves on. */
export const deliveryAttempts = 3;
