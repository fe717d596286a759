/** Runs readings and what follows from decisions one at a time, in the order in which they were asked for. */
export class ReadingQueue {
  /** What was asked for last; it ends after everything that was asked for before. */
  #last: Promise<void> = Promise.resolve();
  /** The shared work that was asked for and has not begun. */
  #shared: Promise<void> | undefined;

  /** Runs after all that was asked for before, however that ended. */
  run(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work, work);
    return this.#last;
  }

  /** Runs once for all callers that ask before it begins. All of them pass the same work. */
  runShared(work: () => Promise<void>): Promise<void> {
    this.#shared ??= this.run(() => {
      this.#shared = undefined;
      return work();
    });
    return this.#shared;
  }
}
