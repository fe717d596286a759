/**
 * A read-write lock: many holders of `shared` at once, or one of `alone`. A waiting `alone` keeps new holders out, so
 * it is not starved.
 */
export class Gate {
  #inside = 0;
  #isClosed = false;
  #changed = Promise.withResolvers<void>();

  async shared<Result>(work: () => Promise<Result>): Promise<Result> {
    while (this.#isClosed) await this.#changed.promise;
    this.#inside++;
    try {
      return await work();
    } finally {
      this.#inside--;
      this.#notify();
    }
  }

  async alone<Result>(work: () => Promise<Result>): Promise<Result> {
    while (this.#isClosed) await this.#changed.promise;
    this.#isClosed = true;
    try {
      while (this.#inside > 0) await this.#changed.promise;
      return await work();
    } finally {
      this.#isClosed = false;
      this.#notify();
    }
  }

  #notify(): void {
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers();
    resolve();
  }
}
