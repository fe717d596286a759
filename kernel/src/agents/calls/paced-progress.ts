import type { Clock } from "../../base/clock.ts";
import type { ProgressSink, ToolProgress } from "../../base/vocabulary/progress.ts";
import { Throttle } from "../throttle.ts";

/** Minimum interval between two progress reports of a tool call. */
export const toolProgressEveryMs = 100;

/** Throttles a handler's progress reports: of the reports in an interval, only the last is forwarded. */
export class PacedProgress implements Disposable {
  readonly sink: ProgressSink;
  readonly #pace: Throttle;
  #last: ToolProgress | null = null;

  constructor(clock: Clock, report: ProgressSink) {
    this.#pace = new Throttle(clock, toolProgressEveryMs, () => {
      if (this.#last !== null) report(this.#last);
    });
    this.sink = (progress) => {
      this.#last = progress;
      this.#pace.changed();
    };
  }

  /** Discards the pending report, because the call's result follows. */
  [Symbol.dispose](): void {
    this.#pace[Symbol.dispose]();
  }
}
