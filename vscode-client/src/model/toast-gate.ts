/** So many notifications in the window; what is more is counted and told in one. */
export const maxToasts = 4;
export const toastWindowMs = 15_000;

/** Keeps many notifications from burying the screen. */
export class ToastGate {
  readonly #now: () => number;
  readonly #later: (run: () => void, inMs: number) => void;
  readonly #tellCount: (count: number) => void;
  #shown: number[] = [];
  #held = 0;

  /** `now` in milliseconds of a clock that only goes forward; `later` runs something once, so much later. */
  constructor(
    now: () => number,
    later: (run: () => void, inMs: number) => void,
    tellCount: (count: number) => void,
  ) {
    this.#now = now;
    this.#later = later;
    this.#tellCount = tellCount;
  }

  /** Whether this one is shown; if not, it is in the count that is told later. */
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
