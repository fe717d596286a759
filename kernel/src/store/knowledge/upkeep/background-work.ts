import { nextTurn } from "../../../base/next-turn.ts";
import type { Clock } from "../../../base/clock.ts";

/** After an error, the work pauses for this time, or until it is woken. */
const restMs = 5_000;

/** What a slice returns: more to do now, at a later time, or nothing (null). */
export type SliceEnd = "more" | { readonly dueMs: number } | null;

/** Work that is done in the background, in slices, one at a time. Other work runs after each slice. */
export class BackgroundWork implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #slice: () => Promise<SliceEnd>;
  readonly #failed: (error: unknown) => void;
  #running: Promise<void> | null = null;
  #isWoken = false;
  #isStopped = false;
  #timer: Disposable | null = null;

  constructor(clock: Clock, slice: () => Promise<SliceEnd>, failed: (error: unknown) => void) {
    this.#clock = clock;
    this.#slice = slice;
    this.#failed = failed;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  wake(): void {
    this.#isWoken = true;
    if (this.#isStopped || this.#running !== null) return;
    this.#running = this.#run().finally(() => {
      this.#running = null;
      // Woken between the last slice and this check.
      if (this.#isWoken) this.wake();
    });
  }

  /** Resolves when no work is left that could be done now. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    this.#timer?.[Symbol.dispose]();
    this.#isWoken = false;
    await this.#running;
  }

  async #run(): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
    let end: SliceEnd = "more";
    while (!this.#isStopped && (end === "more" || this.#isWoken)) {
      this.#isWoken = false;
      try {
        end = await this.#slice();
      } catch (error) {
        if (!this.#isStopped) this.#failed(error);
        end = { dueMs: this.#clock.now() + restMs };
      }
      await nextTurn();
    }
    if (this.#isStopped || end === null || end === "more") return;
    this.#timer = this.#clock.timer(Math.max(0, end.dueMs - this.#clock.now()), () => this.wake());
  }
}
