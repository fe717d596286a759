/** A token bucket: `ratePerSecond` on average, with a burst of the same size. It delays and never drops. */
export class TokenBucket {
  #ratePerSecond: number;
  #tokens: number;
  #filledAt: number;

  constructor(ratePerSecond: number, nowMs: number) {
    this.#ratePerSecond = ratePerSecond;
    this.#tokens = ratePerSecond;
    this.#filledAt = nowMs;
  }

  set ratePerSecond(rate: number) {
    this.#ratePerSecond = rate;
    this.#tokens = Math.min(this.#tokens, rate);
  }

  /** Takes a token and returns the delay before it may be used, in milliseconds (0: now). */
  take(nowMs: number): number {
    const elapsedMs = Math.max(0, nowMs - this.#filledAt);
    this.#filledAt = nowMs;
    this.#tokens = Math.min(this.#ratePerSecond, this.#tokens + (elapsedMs * this.#ratePerSecond) / 1000);
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : (-this.#tokens * 1000) / this.#ratePerSecond;
  }
}
