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
  #told = 0;
  #untold = 0;
  #timer: Disposable | null = null;

  constructor(clock: Clock, write: WriteRefusal) {
    this.#clock = clock;
    this.#write = write;
  }

  refused(message: string, fields: Record<string, unknown>, context?: TraceContext): void {
    this.#timer ??= this.#clock.timer(windowMs, () => this[Symbol.dispose]());
    if (this.#told >= maxRefusalsPerSecond) {
      this.#untold += 1;
      return;
    }
    this.#told += 1;
    this.#write(`refused: ${message}`, fields, context);
  }

  /** Reports how many refusals were not reported. */
  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
    const untold = this.#untold;
    this.#told = 0;
    this.#untold = 0;
    if (untold > 0) this.#write(`refused: ${untold} more of its calls within the same second`);
  }
}
