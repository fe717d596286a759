import type { Clock } from "./clock.ts";

/** Maximum time, in milliseconds, for which work is started in one turn of the event loop. */
export const turnMs = 2;

/**
 * Shares the kernel's thread fairly between those that want work done, agents or conversations. While there is time in
 * this turn of the event loop, work starts immediately. After that, each of them has its own queue, and the queues are
 * served round-robin in later turns. An agent that always has the maximum number of open calls delays another agent by
 * one turn, not by all of its calls.
 */
export class FairTurns {
  readonly #clock: Clock;
  readonly #nextTurn: (run: () => void) => void;
  /** Whose work waits, in the order in which they are served; each has at least one. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #begunAt: number | null = null;

  /** `nextTurn` runs a function after pending input was read. */
  constructor(clock: Clock, nextTurn: (run: () => void) => void) {
    this.#clock = clock;
    this.#nextTurn = nextTurn;
  }

  /** Resolves when `whose` work may start. */
  async take(whose: string): Promise<void> {
    if (this.#begunAt === null) this.#begin();
    if (this.#waiting.size === 0 && this.#hasTime()) return;
    await new Promise<void>((resolve) => {
      const queue = this.#waiting.get(whose);
      if (queue === undefined) this.#waiting.set(whose, [resolve]);
      else queue.push(resolve);
    });
  }

  #hasTime(): boolean {
    return this.#begunAt !== null && this.#clock.monotonic() - this.#begunAt < turnMs;
  }

  #begin(): void {
    this.#begunAt = this.#clock.monotonic();
    this.#nextTurn(() => {
      this.#begunAt = null;
      if (this.#waiting.size === 0) return;
      this.#begin();
      void this.#giveTurns();
    });
  }

  /** Never rejects. */
  async #giveTurns(): Promise<void> {
    do {
      const [first] = this.#waiting;
      if (first === undefined) return;
      const [whose, queue] = first;
      // Moves to the end of the queue.
      this.#waiting.delete(whose);
      const start = queue.shift();
      if (queue.length > 0) this.#waiting.set(whose, queue);
      start?.();
      // Its synchronous work finishes before the time is measured again.
      for (let step = 0; step < settlingSteps; step++) await Promise.resolve();
    } while (this.#hasTime());
  }
}

/** Turns of the microtask queue after which work without I/O has usually finished. */
const settlingSteps = 8;
