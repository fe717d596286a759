import { Fifo } from "../base/fifo.ts";

interface Waiting {
  readonly group: string;
  readonly resolve: (place: Disposable) => void;
  isGone: boolean;
}

/** Bounds how many processes work at once: in all, and in each conversation. The others wait in the order in which they came. */
export class Places {
  readonly #limits: { all(): number; ofGroup(): number };
  readonly #used = new Map<string, number>();
  readonly #waiting = new Fifo<Waiting>();
  #all = 0;

  constructor(limits: { all(): number; ofGroup(): number }) {
    this.#limits = limits;
  }

  /** Waits for a place. Rejects with the signal's reason if it is aborted before that. */
  async take(group: string, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#isFree(group)) return this.#use(group);
    return await new Promise<Disposable>((resolve, reject) => {
      const leave = (): void => {
        waiting.isGone = true;
        this.#waiting.filter((each) => !each.isGone);
        reject(signal.reason as Error);
      };
      const waiting: Waiting = {
        group,
        isGone: false,
        resolve: (place) => {
          signal.removeEventListener("abort", leave);
          resolve(place);
        },
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.push(waiting);
    });
  }

  #isFree(group: string): boolean {
    return this.#all < this.#limits.all() && (this.#used.get(group) ?? 0) < this.#limits.ofGroup();
  }

  #use(group: string): Disposable {
    this.#all++;
    this.#used.set(group, (this.#used.get(group) ?? 0) + 1);
    let isUsed = true;
    return {
      [Symbol.dispose]: () => {
        if (!isUsed) return;
        isUsed = false;
        this.#all--;
        const left = (this.#used.get(group) ?? 1) - 1;
        if (left === 0) this.#used.delete(group);
        else this.#used.set(group, left);
        this.#next();
      },
    };
  }

  /** A group that is full does not keep the others waiting. */
  #next(): void {
    const started: Waiting[] = [];
    this.#waiting.filter((waiting) => {
      if (!this.#isFree(waiting.group)) return true;
      started.push(waiting);
      waiting.resolve(this.#use(waiting.group));
      return false;
    });
  }
}
