import type { Clock } from "../../base/clock.ts";
import { systemClock } from "../../platform/clock.ts";

interface Timer {
  readonly dueMs: number;
  readonly run: () => void;
}

/** The system's clock, which a test can set forward: timers that are due by then run at once. */
export class MovedClock implements Clock {
  #aheadMs = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return systemClock.now() + this.#aheadMs;
  }

  monotonic(): number {
    return systemClock.monotonic() + this.#aheadMs;
  }

  timer(delayMs: number, run: () => void): Disposable {
    const real = systemClock.timer(delayMs, () => this.#fire(timer));
    const timer: Timer = { dueMs: this.monotonic() + delayMs, run };
    this.#timers.add(timer);
    return {
      [Symbol.dispose]: () => {
        this.#timers.delete(timer);
        real[Symbol.dispose]();
      },
    };
  }

  advance(byMs: number): void {
    this.#aheadMs += byMs;
    for (const timer of this.#timers) if (timer.dueMs <= this.monotonic()) this.#fire(timer);
  }

  #fire(timer: Timer): void {
    if (this.#timers.delete(timer)) timer.run();
  }
}
