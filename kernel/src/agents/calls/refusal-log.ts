import type { Clock } from "../../base/clock.ts";
import type { TraceContext } from "../trace-writer.ts";

type WriteRefusal = (message: string, fields?: Record<string, unknown>, context?: TraceContext) => void;

const windowMs = 1000;
/** Number of an agent's refusals per second that are reported one by one. */
export const maxRefusalsPerSecond = 50;

/** Reports refused calls; of a flood, only the count, because a refusal costs its caller nothing. */
export class RefusalLog implements Disposable {
  readonly #clock: Clock;
  readonly #write: WriteRefusal;
  #written = 0;
  #left = 0;
  #timer: Disposable | null = null;

  constructor(clock: Clock, write: WriteRefusal) {
    this.#clock = clock;
    this.#write = write;
  }

  refused(message: string, fields: Record<string, unknown>, context?: TraceContext): void {
    this.#timer ??= this.#clock.timer(windowMs, () => this[Symbol.dispose]());
    if (this.#written >= maxRefusalsPerSecond) {
      this.#left += 1;
      return;
    }
    this.#written += 1;
    this.#write(`refused: ${message}`, fields, context);
  }

  /** Reports how many refusals were not reported. */
  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
    const left = this.#left;
    this.#written = 0;
    this.#left = 0;
    if (left > 0) this.#write(`refused: ${left} more of its calls within the same second`);
  }
}
