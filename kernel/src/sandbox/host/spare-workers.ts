import type { Clock } from "../../base/clock.ts";

interface Worker {
  /** False after it has ended. */
  readonly isAlive: boolean;
  end(): Promise<void>;
}

/** See `hostBounds`. */
type Bounds = Readonly<Record<"spareDelayMs" | "maxSpareDelayMs" | "maxSpares" | "spareReviewMs", number>>;

/**
 * Workers that are ready for any program. Where a guest met none, one more is kept from then on; where one was never
 * needed for a while, one fewer. Starting a worker keeps two processors busy, so they are started one after the other,
 * and guests that compute come first.
 */
export class SpareWorkers<Spare extends Worker> {
  readonly #clock: Clock;
  readonly #startWorker: () => Spare;
  readonly #bounds: Bounds;
  #ready: Spare[] = [];
  /** How many are kept; none before the first is wanted. */
  #size = 0;
  /** The fewest that were ready since the last review. */
  #fewest = 0;
  #next: Disposable | null = null;
  /** On the monotonic clock: from then on guests that compute do not delay the next one. */
  #dueAt = 0;

  constructor(clock: Clock, startWorker: () => Spare, bounds: Bounds) {
    this.#clock = clock;
    this.#startWorker = startWorker;
    this.#bounds = bounds;
  }

  /** Keeps at least one from now on, and starts the first at once. */
  want(): void {
    if (this.#size > 0) return;
    this.#size = 1;
    this.#fill();
  }

  /** Returns one for a guest that starts; null if none is ready. */
  take(): Spare | null {
    this.#ready = this.#ready.filter(({ isAlive }) => isAlive);
    const taken = this.#ready.shift() ?? null;
    this.#fewest = Math.min(this.#fewest, this.#ready.length);
    if (taken === null && this.#size > 0) this.#grow();
    this.#dueAt = this.#clock.monotonic() + this.#bounds.maxSpareDelayMs;
    this.#fillLater();
    return taken;
  }

  /** Called while a guest computes. */
  yield(): void {
    if (this.#next !== null && this.#clock.monotonic() < this.#dueAt) this.#fillLater();
  }

  #fillLater(): void {
    this.#next?.[Symbol.dispose]();
    this.#next = this.#clock.timer(this.#bounds.spareDelayMs, () => this.#fill());
  }

  #fill(): void {
    this.#next?.[Symbol.dispose]();
    this.#next = null;
    this.#ready = this.#ready.filter(({ isAlive }) => isAlive);
    if (this.#ready.length >= this.#size) return;
    this.#ready.push(this.#startWorker());
    if (this.#ready.length < this.#size) this.#fillLater();
  }

  #grow(): void {
    if (this.#size >= this.#bounds.maxSpares) return;
    this.#size += 1;
    this.#fewest = 0;
    if (this.#size === 2) this.#reviewLater();
  }

  /** While more than one is kept. */
  #reviewLater(): void {
    this.#clock.timer(this.#bounds.spareReviewMs, () => {
      if (this.#fewest > 0) {
        this.#size -= 1;
        void this.#ready.pop()?.end();
      }
      this.#fewest = this.#ready.length;
      if (this.#size > 1) this.#reviewLater();
    });
  }
}
