import type { Clock } from "../../base/clock.ts";

/** Nothing may have happened for so long before a job begins that waits for that. */
export const quietMs = 1000;

/** An agent with jobs that wait for a quiet moment. */
interface WaitsForQuiet {
  /** When the first of them may begin, in milliseconds since 1970; null where none waits. */
  idleJobDueAt(): number | null;
  startIdleJob(): void;
}

interface QuietOptions {
  readonly clock: Clock;
  agents(): Iterable<WaitsForQuiet>;
  /** When something was last done, in monotonic milliseconds; null while something is. */
  quietSince(): number | null;
}

/** Lets jobs begin when no agent has anything to do, one after the other: each makes it unquiet for the next. */
export class IdleScheduler implements Disposable {
  readonly #options: QuietOptions;
  #timer: Disposable | null = null;
  #isDisposed = false;

  constructor(options: QuietOptions) {
    this.#options = options;
  }

  /** Something came to rest, or began to wait. */
  look(): void {
    if (this.#isDisposed) return;
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
    const first = this.#first();
    const quietSince = first === null ? null : this.#options.quietSince();
    if (first === null || quietSince === null) return; // what comes to rest next looks again
    const { clock } = this.#options;
    const waitMs = Math.max(quietSince + quietMs - clock.monotonic(), first.dueAt - clock.now());
    if (waitMs <= 0) {
      first.agent.startIdleJob();
      return;
    }
    this.#timer = clock.timer(waitMs, () => {
      this.#timer = null;
      this.look();
    });
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#timer?.[Symbol.dispose]();
  }

  #first(): { readonly agent: WaitsForQuiet; readonly dueAt: number } | null {
    let first: { readonly agent: WaitsForQuiet; readonly dueAt: number } | null = null;
    for (const agent of this.#options.agents()) {
      const dueAt = agent.idleJobDueAt();
      if (dueAt !== null && (first === null || dueAt < first.dueAt)) first = { agent, dueAt };
    }
    return first;
  }
}
