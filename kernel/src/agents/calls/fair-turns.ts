import type { Clock } from "../../base/clock.ts";

/** How long calls are begun in one turn of the loop before everybody else has theirs, in milliseconds. */
export const turnMs = 2;

/**
 * Shares the kernel's thread between agents: as long as there is time in this turn of the loop a call begins at once;
 * after that each agent waits in a queue of its own, and in each turn they take theirs one after the other. So an agent
 * that always has as many calls open as it may costs another one a turn, not all of them.
 */
export class FairTurns {
  readonly #clock: Clock;
  readonly #nextTurn: (run: () => void) => void;
  /** Whose calls wait, in the order in which they are taken; each has at least one. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #begunAt: number | null = null;

  /** `nextTurn` runs something after what has arrived meanwhile was read. */
  constructor(clock: Clock, nextTurn: (run: () => void) => void) {
    this.#clock = clock;
    this.#nextTurn = nextTurn;
  }

  /** Resolves when a call of the agent may begin. */
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
      // To the end, behind everybody who waits.
      this.#waiting.delete(agent);
      const call = queue.shift();
      if (queue.length > 0) this.#waiting.set(agent, queue);
      call?.();
      // What it does at once is done before the next one's time is counted.
      for (let step = 0; step < settlingSteps; step++) await Promise.resolve();
    } while (this.#hasTime());
  }
}

/** Turns of the microtask queue in which a call that waits for nothing has mostly been answered. */
const settlingSteps = 8;
