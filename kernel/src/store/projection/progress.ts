import { projectionBounds as bounds } from "../bounds.ts";

/** Reports the progress of work that takes long: at intervals, and when it is done. */
export class Progress {
  readonly #tell: (done: number, total: number) => void;
  readonly #total: number;
  /** When it is reported next. */
  #dueAt = performance.now() + bounds.progressAfterMs;
  #isTold = false;

  constructor(total: number, tell: (done: number, total: number) => void) {
    this.#total = total;
    this.#tell = tell;
  }

  reached(done: number): void {
    const now = performance.now();
    if (done >= this.#total ? !this.#isTold : now < this.#dueAt) return;
    this.#isTold = true;
    this.#dueAt = now + bounds.progressIntervalMs;
    this.#tell(done, this.#total);
  }
}
