/**
 * Places beyond the limit for agents that somebody waits for: those that wait for them keep their own places meanwhile, so
 * without these calls from agent to agent could wait for each other for ever. A chain of calls is no longer than this.
 */
const extraPlaces = 8;

/** An agent that wants to be loaded. */
interface Claim {
  /** True while somebody waits for its answer. */
  readonly isAwaited: boolean;
}

/**
 * Limits how many agents are loaded at once. If all places are taken, a new agent waits, and the agent that has
 * been idle longest is asked to unload.
 */
export class AgentSlots {
  #limit: number;
  readonly #askToLeave: () => void;
  #taken = 0;
  readonly #waiting: { readonly claim: Claim; admit(): void }[] = [];

  constructor(limit: number, askToLeave: () => void) {
    this.#limit = limit;
    this.#askToLeave = askToLeave;
  }

  set limit(limit: number) {
    this.#limit = limit;
    this.admit();
  }

  get taken(): number {
    return this.#taken;
  }

  async acquire(claim: Claim = { isAwaited: false }): Promise<Disposable> {
    if (this.#isRoomFor(claim)) this.#taken += 1;
    else
      await new Promise<void>((resolve) => {
        this.#waiting.push({ claim, admit: resolve });
        this.#askToLeave();
      });
    let released = false;
    return {
      [Symbol.dispose]: () => {
        if (released) return;
        released = true;
        this.#taken -= 1;
        this.admit();
        // More than one may have to leave before there is room again.
        if (this.hasWaiters) this.#askToLeave();
      },
    };
  }

  get hasWaiters(): boolean {
    return this.#waiting.length > 0;
  }

  /** More are loaded than may be in the long run. */
  get isCrowded(): boolean {
    return this.#taken > this.#limit;
  }

  /** Admits those that wait and for whom there is room, in order. Call it when one of them is awaited from now on. */
  admit(): void {
    for (let at = 0; at < this.#waiting.length;) {
      const next = this.#waiting[at];
      if (next === undefined || !this.#isRoomFor(next.claim)) {
        at++;
        continue;
      }
      this.#waiting.splice(at, 1);
      this.#taken += 1;
      next.admit();
    }
  }

  #isRoomFor(claim: Claim): boolean {
    return this.#taken < this.#limit || (this.#taken < this.#limit + extraPlaces && claim.isAwaited);
  }
}
