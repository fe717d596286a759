import type { Clock } from "../../../base/clock.ts";

const windowMs = 1000;

/** Admits a number of notifications per second, and reports afterwards how many it dropped. */
export class NotificationMeter implements Disposable {
  readonly #clock: Clock;
  readonly perSecond: number;
  readonly #onDropped: (count: number) => void;
  #windowStart = Number.NEGATIVE_INFINITY;
  #passed = 0;
  #dropped = 0;
  #timer: Disposable | null = null;

  constructor(clock: Clock, perSecond: number, onDropped: (count: number) => void) {
    this.#clock = clock;
    this.perSecond = perSecond;
    this.#onDropped = onDropped;
  }

  /** Returns true if this one may pass. */
  admits(): boolean {
    const now = this.#clock.monotonic();
    if (now - this.#windowStart >= windowMs) {
      this.#windowStart = now;
      this.#passed = 0;
    }
    if (this.#passed < this.perSecond) {
      this.#passed++;
      return true;
    }
    this.#dropped++;
    this.#timer ??= this.#clock.timer(this.#windowStart + windowMs - now, () => this.#report());
    return false;
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#report();
  }

  #report(): void {
    this.#timer = null;
    const dropped = this.#dropped;
    this.#dropped = 0;
    if (dropped > 0) this.#onDropped(dropped);
  }
}
