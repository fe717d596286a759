import type { Clock } from "../base/clock.ts";

/**
 * Throttles reports of changes: reports the first immediately, and those that follow within an interval together
 * at its end.
 */
export class Throttle implements Disposable {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #tell: () => void;
  #timer: Disposable | null = null;
  #isDue = false;
  #isDisposed = false;

  constructor(clock: Clock, everyMs: number, tell: () => void) {
    this.#clock = clock;
    this.#everyMs = everyMs;
    this.#tell = tell;
  }

  changed(): void {
    if (this.#isDisposed) return;
    if (this.#timer !== null) {
      this.#isDue = true;
      return;
    }
    this.#timer = this.#clock.timer(this.#everyMs, () => {
      this.#timer = null;
      if (!this.#isDue) return;
      this.#isDue = false;
      this.changed();
    });
    this.#tell();
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#timer?.[Symbol.dispose]();
  }
}
