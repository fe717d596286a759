import type { Clock } from "./clock.ts";

/**
 * Divides the event loop's time among long-running tasks: together they hold the loop for at most one slice, then
 * everything else gets a turn. Waiting tasks continue in the order in which they arrived.
 */
export class Slices {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #sliceMs: number;
  readonly #waiting: (() => void)[] = [];
  /** The end of the current slice; null if no slice has begun in this turn of the loop. */
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

  /** False if the caller has to wait for the next slice. */
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
      // Even if this task needs no time, the next one must be woken.
      if (this.#waiting.length > 0) void this.hasTime;
    });
  }
}
