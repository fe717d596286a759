/** Returns the delay before the n-th retry (from 1): 100 ms, doubled each time, at most 10 s. */
export function backoffMs(attempt: number): number {
  return Math.min(10_000, 100 * 2 ** Math.max(0, attempt - 1));
}

/** A delivery that lost its guest this often is dead-lettered, so that the queue continues. */
export const deliveryAttempts = 3;
