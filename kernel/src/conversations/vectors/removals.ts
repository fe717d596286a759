import { requestCancelled } from "../../base/errors.ts";

/** Keeps vectors from being made of texts that are being removed: aborts work on texts already read, and holds further reads. */
export class Removals {
  #reading = new AbortController();
  #running = 0;
  #over = Promise.withResolvers<null>();

  /** The signal for work on texts that are read now. The next removal aborts it. */
  get signal(): AbortSignal {
    return this.#reading.signal;
  }

  interrupt(): void {
    this.#reading.abort(requestCancelled("Texts are removed."));
    this.#reading = new AbortController();
  }

  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#running++;
    this.interrupt();
    try {
      return await work();
    } finally {
      // Also discards texts that were read during the removal.
      this.interrupt();
      if (--this.#running === 0) {
        this.#over.resolve(null);
        this.#over = Promise.withResolvers();
      }
    }
  }

  /** Resolves when no removal is running. */
  async over(): Promise<null> {
    while (this.#running > 0) await this.#over.promise;
    return null;
  }
}
