import type { Clock } from "../clock.ts";

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** A clock that stands still until a test advances it; timers fire in the order in which they are due. */
export class ManualClock implements Clock {
  #epochMs: number;
  #monotonicMs = 0;
  #order = 0;
  readonly #timers = new Set<Timer>();

  constructor(start: number | string = "2026-11-20T12:00:00.000Z") {
    this.#epochMs = typeof start === "number" ? start : Date.parse(start);
  }

  now(): number {
    return this.#epochMs;
  }

  monotonic(): number {
    return this.#monotonicMs;
  }

  timer(delayMs: number, run: () => void): Disposable {
    const timer: Timer = { dueMs: this.#monotonicMs + Math.max(0, delayMs), order: this.#order++, run };
    this.#timers.add(timer);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  /** Timers that have neither fired nor been disposed. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Moves time forward; each timer that falls due runs at its own moment, those it starts included. */
  advance(byMs: number): void {
    const endMs = this.#monotonicMs + byMs;
    for (let next = this.#earliest(); next !== undefined && next.dueMs <= endMs; next = this.#earliest()) {
      this.#timers.delete(next);
      this.#moveTo(next.dueMs);
      next.run();
    }
    this.#moveTo(endMs);
  }

  /** As `advance`, letting promises settle before each timer and at the end. */
  async advanceAsync(byMs: number): Promise<void> {
    const endMs = this.#monotonicMs + byMs;
    await settle();
    for (let next = this.#earliest(); next !== undefined && next.dueMs <= endMs; next = this.#earliest()) {
      this.#timers.delete(next);
      this.#moveTo(next.dueMs);
      next.run();
      await settle();
    }
    this.#moveTo(endMs);
    await settle();
  }

  /** Sets the wall clock alone, as a person or a time server does: durations and timers do not notice. */
  setNow(epoch: number | string): void {
    this.#epochMs = typeof epoch === "number" ? epoch : Date.parse(epoch);
  }

  #moveTo(monotonicMs: number): void {
    this.#epochMs += monotonicMs - this.#monotonicMs;
    this.#monotonicMs = monotonicMs;
  }

  #earliest(): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) {
      if (
        earliest === undefined ||
        timer.dueMs < earliest.dueMs ||
        (timer.dueMs === earliest.dueMs && timer.order < earliest.order)
      ) {
        earliest = timer;
      }
    }
    return earliest;
  }
}

/** Enough turns of the microtask queue for chains of awaits on settled promises. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}
