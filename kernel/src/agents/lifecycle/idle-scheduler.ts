import type { Clock } from "../../base/clock.ts";

/** Idle time before a job starts that waits for it. */
export const quietMs = 1000;

/** An agent with jobs that wait for idle time. */
interface WaitsForQuiet {
  /** When the first of them may start, in milliseconds since 1970; null if none waits. */
  idleJobDueAt(): number | null;
  startIdleJob(): void;
}

interface QuietOptions {
  readonly clock: Clock;
  agents(): Iterable<WaitsForQuiet>;
  /** When the last work ended, in monotonic milliseconds; null while there is work. */
  quietSince(): number | null;
}

/** Starts jobs while all agents are idle, one at a time: a running job makes the kernel busy. */
export class IdleScheduler implements Disposable {
  readonly #options: QuietOptions;
  #timer: Disposable | null = null;
  #isDisposed = false;

  constructor(options: QuietOptions) {
    this.#options = options;
  }

  /** Called when work ended or a job began to wait. */
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
