import type { Clock } from "../base/clock.ts";
import type { JobOutcome, JobProgress } from "./ports.ts";
import { NamedTimers } from "./timers.ts";

/** A job that takes no longer is not shown, unless it says itself how far it is. */
export const shownAfterMs = 1000;
/** How far a job is, is told no more often than this. */
export const reportEveryMs = 100;

interface Reached {
  readonly fraction: number;
  readonly message?: string;
}

/** Tells people how far one run of a job is: bounded, whatever the guest says, and the last word is always told. */
export class JobProgressMeter {
  readonly #job: { readonly id: string; readonly agent: string; readonly name: string };
  readonly #tell: (progress: JobProgress) => void;
  readonly #timers: NamedTimers<"shown" | "report">;
  #isShown = false;
  #unsaid: Reached | null = null;

  constructor(
    clock: Clock,
    job: { readonly id: string; readonly agent: string; readonly name: string },
    tell: (progress: JobProgress) => void,
  ) {
    this.#job = job;
    this.#tell = tell;
    this.#timers = new NamedTimers(clock);
    this.#timers.set("shown", shownAfterMs, () => this.#show());
  }

  report(reached: Reached): void {
    this.#show();
    this.#unsaid = reached;
    if (!this.#timers.has("report")) this.#say();
  }

  end(outcome: JobOutcome): void {
    if (this.#unsaid !== null) this.#say();
    this.#timers[Symbol.dispose]();
    if (this.#isShown) this.#tell({ ...this.#who, kind: "end", outcome });
  }

  get #who(): { readonly id: string; readonly agent: string } {
    return { id: this.#job.id, agent: this.#job.agent };
  }

  #show(): void {
    if (this.#isShown) return;
    this.#isShown = true;
    this.#timers.clear("shown");
    this.#tell({ ...this.#who, kind: "begin", name: this.#job.name });
  }

  #say(): void {
    const reached = this.#unsaid;
    if (reached === null) return;
    this.#unsaid = null;
    this.#tell({ ...this.#who, kind: "report", ...reached });
    this.#timers.set("report", reportEveryMs, () => this.#say());
  }
}
