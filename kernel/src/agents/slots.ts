/**
 * Limits how many agents are loaded at once. If all places are taken, a new agent waits, and the agent that has
 * been idle longest is asked to unload.
 */
export class AgentSlots {
  #limit: number;
  readonly #askToLeave: () => void;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(limit: number, askToLeave: () => void) {
    this.#limit = limit;
    this.#askToLeave = askToLeave;
  }

  set limit(limit: number) {
    this.#limit = limit;
    this.#admit();
  }

  get taken(): number {
    return this.#taken;
  }

  async acquire(): Promise<Disposable> {
    if (this.#taken >= this.#limit) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        this.#askToLeave();
      });
    } else {
      this.#taken += 1;
    }
    let released = false;
    return {
      [Symbol.dispose]: () => {
        if (released) return;
        released = true;
        this.#taken -= 1;
        this.#admit();
      },
    };
  }

  get hasWaiters(): boolean {
    return this.#waiting.length > 0;
  }

  #admit(): void {
    while (this.#taken < this.#limit) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#taken += 1;
      next();
    }
  }
}
