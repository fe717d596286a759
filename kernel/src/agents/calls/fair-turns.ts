import type { Clock } from "../../base/clock.ts";

/** Maximum time, in milliseconds, for which calls are started in one turn of the event loop. */
export const turnMs = 2;

/**
 * Shares the kernel's thread fairly between agents. While there is time in this turn of the event loop, a call
 * starts immediately. After that, each agent has its own queue, and the queues are served round-robin in later
 * turns. An agent that always has the maximum number of open calls delays another agent by one turn, not by all of
 * its calls.
 */
export class FairTurns {
  readonly #clock: Clock;
  readonly #nextTurn: (run: () => void) => void;
  /** The agents with waiting calls, in the order in which they are served; each has at least one. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #begunAt: number | null = null;

  /** `nextTurn` runs a function after pending input was read. */
  constructor(clock: Clock, nextTurn: (run: () => void) => void) {
    this.#clock = clock;
    this.#nextTurn = nextTurn;
  }

  /** Resolves when a call of the agent may start. */
  async take(agent: string): Promise<void> {
    if (this.#begunAt === null) this.#begin();
    if (this.#waiting.size === 0 && this.#hasTime()) return;
    await new Promise<void>((resolve) => {
      const queue = this.#waiting.get(agent);
      if (queue === undefined) this.#waiting.set(agent, [resolve]);
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
      const [agent, queue] = first;
      // Moves to the end of the queue.
      this.#waiting.delete(agent);
      const call = queue.shift();
      if (queue.length > 0) this.#waiting.set(agent, queue);
      call?.();
      // Its synchronous work finishes before the next call's time is measured.
      for (let step = 0; step < settlingSteps; step++) await Promise.resolve();
    } while (this.#hasTime());
  }
}

/** Turns of the microtask queue after which a call that does no I/O has usually finished. */
const settlingSteps = 8;
