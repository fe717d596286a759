import type { Clock } from "../base/clock.ts";

interface WakesOptions {
  readonly clock: Clock;
  /** Has the channel read what its children found. Does nothing while it works. */
  wake(): void;
  /** Called instead of `wake` after the maximum number of wakes without a person. */
  exhausted(): void;
}

/** The ends of children gather for this time before they wake the channel. */
const gatherMs = 500;
/** Wakes in a row that no person caused. */
const maxDepth = 3;

/** Wakes a channel for what its children found: not for each of them, and not for ever. */
export class Wakes implements Disposable {
  readonly #options: WakesOptions;
  #timer: Disposable | null = null;
  #depth = 0;

  constructor(options: WakesOptions) {
    this.#options = options;
  }

  /** True while ends are gathered. */
  get isGathering(): boolean {
    return this.#timer !== null;
  }

  /** A person's message or decision begins a new chain. */
  personSpoke(): void {
    this.#depth = 0;
  }

  /** Sets the number of wakes without a person that happened before this conversation was opened. */
  startAt(depth: number): void {
    this.#depth = Math.max(this.#depth, depth);
  }

  /** A child has ended, or what one found was not read yet. */
  childEnded(): void {
    this.#timer ??= this.#options.clock.timer(gatherMs, () => {
      this.#timer = null;
      if (this.#depth >= maxDepth) return this.#options.exhausted();
      this.#depth++;
      this.#options.wake();
    });
  }

  stop(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
  }

  [Symbol.dispose](): void {
    this.stop();
  }
}
