/** The number of notifications in the window; further ones are counted and announced together. */
export const maxToasts = 4;
export const toastWindowMs = 15_000;

/** Limits the rate of notifications. */
export class ToastGate {
  readonly #now: () => number;
  readonly #later: (run: () => void, inMs: number) => void;
  readonly #tellCount: (count: number) => void;
  #shown: number[] = [];
  #held = 0;

  /** `now`: milliseconds of a monotonic clock; `later` runs a function once after a delay. */
  constructor(
    now: () => number,
    later: (run: () => void, inMs: number) => void,
    tellCount: (count: number) => void,
  ) {
    this.#now = now;
    this.#later = later;
    this.#tellCount = tellCount;
  }

  /** Returns true if this one may be shown; otherwise it is counted and announced later. */
  admits(): boolean {
    const now = this.#now();
    this.#shown = this.#shown.filter((at) => now - at < toastWindowMs);
    if (this.#held === 0 && this.#shown.length < maxToasts) {
      this.#shown.push(now);
      return true;
    }
    if (this.#held === 0) this.#later(() => this.#tell(), toastWindowMs);
    this.#held++;
    return false;
  }

  #tell(): void {
    const held = this.#held;
    this.#held = 0;
    this.#shown = [];
    this.#tellCount(held);
  }
}
