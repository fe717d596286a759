/** Runs readings and the consequences of decisions one at a time, in the order of the calls. */
export class ReadingQueue {
  /** The last queued work; it ends after all work before it. */
  #last: Promise<void> = Promise.resolve();
  /** The shared work that is queued and has not begun. */
  #shared: Promise<void> | undefined;

  /** Runs after all work queued before, whether that succeeded or failed. */
  run(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work, work);
    return this.#last;
  }

  /** Runs once for all callers that request it before it begins. All of them must pass the same work. */
  runShared(work: () => Promise<void>): Promise<void> {
    this.#shared ??= this.run(() => {
      this.#shared = undefined;
      return work();
    });
    return this.#shared;
  }
}
