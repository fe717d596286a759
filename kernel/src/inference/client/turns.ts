/** There are too many questions already. */
export class TooManyWait extends Error {}

interface Waiting {
  readonly model: string;
  begin(): void;
}

/** Gives each model one run at a time, in the order in which they were asked for, and few models at once. */
export class Turns {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  readonly #running = new Set<string>();
  #waiting: readonly Waiting[] = [];

  constructor(maxRunning: number, maxWaiting: number) {
    this.#maxRunning = maxRunning;
    this.#maxWaiting = maxWaiting;
  }

  /** Resolves when the model is free, with its release. Rejects with TooManyWait, or with the signal's reason. */
  async take(model: string, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (!this.#isFree(model) || this.#waiting.some((each) => each.model === model)) {
      if (this.#waiting.length >= this.#maxWaiting) throw new TooManyWait();
      await this.#wait(model, signal);
    } else this.#running.add(model);
    let isReleased = false;
    return {
      [Symbol.dispose]: () => {
        if (isReleased) return;
        isReleased = true;
        this.#running.delete(model);
        this.#beginNext();
      },
    };
  }

  #isFree(model: string): boolean {
    return this.#running.size < this.#maxRunning && !this.#running.has(model);
  }

  #wait(model: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (): void => {
      this.#waiting = this.#waiting.filter((each) => each !== waiting);
      reject(signal.reason as Error);
    };
    const waiting: Waiting = {
      model,
      begin: () => {
        signal.removeEventListener("abort", leave);
        this.#running.add(model);
        resolve();
      },
    };
    this.#waiting = [...this.#waiting, waiting];
    signal.addEventListener("abort", leave, { once: true });
    return promise;
  }

  #beginNext(): void {
    for (const waiting of this.#waiting) {
      if (!this.#isFree(waiting.model)) continue;
      this.#waiting = this.#waiting.filter((each) => each !== waiting);
      waiting.begin();
    }
  }
}
