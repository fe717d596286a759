import type { Clock } from "./clock.ts";

/**
 * Time on the loop for work that may be long, shared by all who do such work: together they hold the loop no
 * longer than one slice, then everything else has a turn. Who waits goes on in the order in which they came.
 */
export class Slices {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #sliceMs: number;
  readonly #waiting: (() => void)[] = [];
  /** The end of the current slice; null if none has begun in this turn of the loop. */
  #endMs: number | null = null;

  constructor(clock: Pick<Clock, "monotonic">, sliceMs: number) {
    this.#clock = clock;
    this.#sliceMs = sliceMs;
  }

  /** Resolves when the caller may begin. */
  async begin(): Promise<void> {
    if (this.#waiting.length > 0 || !this.hasTime) await this.next();
  }

  get nowMs(): number {
    return this.#clock.monotonic();
  }

  /** False: it is time to wait for the next slice. */
  get hasTime(): boolean {
    if (this.#endMs === null) {
      this.#endMs = this.#clock.monotonic() + this.#sliceMs;
      this.#wakeLater();
    }
    return this.#clock.monotonic() < this.#endMs;
  }

  /** Resolves in a later turn of the loop. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wakeLater(): void {
    setImmediate(() => {
      this.#endMs = null;
      const wake = this.#waiting.shift();
      if (wake === undefined) return;
      wake();
      // Should it need no time at all, the others are still woken.
      if (this.#waiting.length > 0) void this.hasTime;
    });
  }
}
