/** A kernel that ends by itself is started again after so long; the last counts for all that follow. */
const delaysMs = [1_000, 2_000, 5_000, 10_000] as const;
/** So many ends within the window, and it is left to the person. */
const maxEnds = 5;
const windowMs = 3 * 60_000;

export type RestartDecision = { readonly kind: "again"; readonly inMs: number } | { readonly kind: "giveUp" };

/** Decides after each unexpected end whether and when the kernel is started again. */
export class Restarts {
  #ends: number[] = [];

  /** `now` in milliseconds of a clock that only goes forward. */
  ended(now: number): RestartDecision {
    this.#ends = [...this.#ends.filter((at) => now - at < windowMs), now];
    if (this.#ends.length >= maxEnds) return { kind: "giveUp" };
    return { kind: "again", inMs: delaysMs[Math.min(this.#ends.length, delaysMs.length) - 1] ?? delaysMs[0] };
  }

  /** The person asked for a start: what was before does not count. */
  reset(): void {
    this.#ends = [];
  }
}
