/**
 * Shares runs of one task among concurrent callers: one run at a time. Callers that arrive during a run share the next
 * one, so each caller gets a result of a run that began after the call.
 */
export class SharedRun<Result> {
  readonly #work: () => Promise<Result>;
  #current: Promise<Result> | null = null;
  #next: Promise<Result> | null = null;

  constructor(work: () => Promise<Result>) {
    this.#work = work;
  }

  /** Rejects with the task's own error, for every caller that shares the run. */
  run(): Promise<Result> {
    if (this.#current === null) return this.#begin();
    this.#next ??= this.#current.then(
      () => this.#begin(),
      () => this.#begin(),
    );
    return this.#next;
  }

  #begin(): Promise<Result> {
    this.#next = null;
    const run = this.#work().finally(() => {
      if (this.#current === run && this.#next === null) this.#current = null;
    });
    this.#current = run;
    return run;
  }
}
