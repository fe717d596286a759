/** The delays before restarts; the last one is used for all further ones. */
const delaysMs = [1_000, 2_000, 5_000, 10_000] as const;
/** After this many ends within the window, the restart is left to the person. */
const maxEnds = 5;
const windowMs = 3 * 60_000;

type RestartDecision = { readonly kind: "again"; readonly inMs: number } | { readonly kind: "giveUp" };

/** Decides after each unexpected end whether and when the kernel is restarted. */
export class Restarts {
  #ends: number[] = [];

  /** `now`: milliseconds of a monotonic clock. */
  ended(now: number): RestartDecision {
    this.#ends = [...this.#ends.filter((at) => now - at < windowMs), now];
    if (this.#ends.length >= maxEnds) return { kind: "giveUp" };
    return { kind: "again", inMs: delaysMs[Math.min(this.#ends.length, delaysMs.length) - 1] ?? delaysMs[0] };
  }

  /** The person asked for a start, so earlier ends no longer count. */
  reset(): void {
    this.#ends = [];
  }
}
