import type { Clock } from "../../base/clock.ts";
import type { ProgressSink, ToolProgress } from "../../base/vocabulary/progress.ts";
import { Throttle } from "../throttle.ts";

/** How far a tool's call is, is told no more often than this. */
export const toolProgressEveryMs = 100;

/** Hands on what a handler reports, however often it does: of the reports within a while, the last one. */
export class PacedProgress implements Disposable {
  readonly sink: ProgressSink;
  readonly #pace: Throttle;
  #last: ToolProgress | null = null;

  constructor(clock: Clock, told: ProgressSink) {
    this.#pace = new Throttle(clock, toolProgressEveryMs, () => {
      if (this.#last !== null) told(this.#last);
    });
    this.sink = (progress) => {
      this.#last = progress;
      this.#pace.changed();
    };
  }

  /** What was not told yet is not told any more: the call's result follows. */
  [Symbol.dispose](): void {
    this.#pace[Symbol.dispose]();
  }
}
