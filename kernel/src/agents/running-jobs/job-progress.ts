import type { Clock } from "../../base/clock.ts";
import type { JobOutcome, JobProgress } from "../ports.ts";
import { NamedTimers } from "../timers.ts";

/** A shorter job is not shown, unless it reports progress. */
const shownAfterMs = 1000;
/** Minimum interval between two progress reports of a job, and between reports that an agent's next job began. */
const reportEveryMs = 100;

/** The progress that a job reports. */
export interface Reached {
  readonly fraction: number;
  readonly message?: string;
}

/** When an agent's last job was shown, in monotonic milliseconds. Not every one of many short jobs is shown. */
export interface LastShown {
  at: number;
}

/** Reports the progress of one run of a job to clients. The rate is bounded, and the last report is always sent. */
export class JobProgressMeter {
  readonly #clock: Clock;
  readonly #last: LastShown;
  readonly #job: { readonly id: string; readonly agent: string; readonly name: string };
  readonly #tell: (progress: JobProgress) => void;
  readonly #timers: NamedTimers<"shown" | "soon" | "report">;
  #isShown = false;
  #reached: Reached | null = null;
  #unsaid: Reached | null = null;

  constructor(
    clock: Clock,
    job: { readonly id: string; readonly agent: string; readonly name: string },
    tell: (progress: JobProgress) => void,
    last: LastShown,
  ) {
    this.#clock = clock;
    this.#last = last;
    this.#job = job;
    this.#tell = tell;
    this.#timers = new NamedTimers(clock);
    this.#timers.set("shown", shownAfterMs, () => this.#show());
  }

  /** The job's last report; null if there is none. */
  get reached(): Reached | null {
    return this.#reached;
  }

  report(reached: Reached): void {
    this.#reached = reached;
    this.#unsaid = reached;
    if (this.#isShown) {
      if (!this.#timers.has("report")) this.#say();
      return;
    }
    const waitMs = this.#last.at + reportEveryMs - this.#clock.monotonic();
    if (waitMs <= 0) this.#show();
    else if (!this.#timers.has("soon")) this.#timers.set("soon", waitMs, () => this.#show());
  }

  end(outcome: JobOutcome): void {
    if (this.#isShown) this.#say();
    this.#timers[Symbol.dispose]();
    if (this.#isShown) this.#tell({ ...this.#who, kind: "end", outcome });
  }

  get #who(): { readonly id: string; readonly agent: string } {
    return { id: this.#job.id, agent: this.#job.agent };
  }

  #show(): void {
    if (this.#isShown) return;
    this.#isShown = true;
    this.#last.at = this.#clock.monotonic();
    this.#timers.clear("shown");
    this.#timers.clear("soon");
    this.#tell({ ...this.#who, kind: "begin", name: this.#job.name });
    this.#say();
  }

  #say(): void {
    const reached = this.#unsaid;
    if (reached === null) return;
    this.#unsaid = null;
    this.#tell({ ...this.#who, kind: "report", ...reached });
    this.#timers.set("report", reportEveryMs, () => this.#say());
  }
}
