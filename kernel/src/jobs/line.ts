/** How urgent a job is; a higher number goes first. */
export const priorities = { low: -1, normal: 0, high: 1 } as const;

export type JobPriority = keyof typeof priorities;

export const priorityNames: ReadonlyMap<number, JobPriority> = new Map([
  [priorities.low, "low"],
  [priorities.normal, "normal"],
  [priorities.high, "high"],
]);

/** How a job ended. */
export type JobEnd = "Completed" | "Failed" | "Cancelled";

/** The number of an agent's ended jobs whose end is remembered, until the kernel ends. */
export const maxKnownEnds = 1000;

/** The part of an unfinished job that is held in memory; its input and checkpoint stay in the database. */
export interface WaitingJob {
  /** The order of dispatch, which decides among equal priorities. */
  readonly seq: number;
  readonly id: string;
  readonly name: string;
  readonly key: string | null;
  readonly priority: number;
  /** Starts only in a quiet moment. */
  readonly whenIdle: boolean;
  /** Bytes of JSON, like `checkpointBytes`. */
  readonly inputBytes: number;
  readonly checkpointBytes: number;
  /** How often its guest was lost during the job, since the start or the last checkpoint. */
  readonly attempts: number;
  /** How often its function failed, since it was dispatched or a person retried it. */
  readonly failures: number;
  /** Milliseconds since 1970; it does not start before. */
  readonly dueAt: number;
  /** Milliseconds since 1970. */
  readonly dispatchedAt: number;
}

/** One agent's unfinished jobs, most urgent first. */
export class JobLine {
  readonly #byId = new Map<string, WaitingJob>();
  readonly #byKey = new Map<string, WaitingJob>();
  readonly #jobs: WaitingJob[] = [];
  readonly #ends = new Map<string, JobEnd>();
  #bytes = 0;
  /** By `whenIdle`. Cached until the jobs change, because it is asked with every event of the agent. */
  readonly #nextDueAt = new Map<boolean, number | null>();

  get size(): number {
    return this.#jobs.length;
  }

  /** Bytes of inputs and checkpoints. */
  get bytes(): number {
    return this.#bytes;
  }

  find(id: string): WaitingJob | undefined {
    return this.#byId.get(id);
  }

  /** Returns how a job ended, if it ended lately. */
  endOf(id: string): JobEnd | undefined {
    return this.#ends.get(id);
  }

  /** Returns the first jobs in their order. */
  first(count: number): WaitingJob[] {
    return this.#jobs.slice(0, count);
  }

  withKey(key: string): WaitingJob | undefined {
    return this.#byKey.get(key);
  }

  /** Returns the first job that may start now; in a quiet moment also one that waits for it. */
  due(nowMs: number, isQuiet: boolean): WaitingJob | null {
    return this.#jobs.find((job) => job.dueAt <= nowMs && (isQuiet || !job.whenIdle)) ?? null;
  }

  /**
   * When the next job may start, in milliseconds since 1970 (0: it may have started already); null if there is
   * none. `whenIdle` selects the jobs that wait for a quiet moment, or the others.
   */
  nextDueAt(whenIdle: boolean): number | null {
    const known = this.#nextDueAt.get(whenIdle);
    if (known !== undefined) return known;
    const next = this.#computeNextDueAt(whenIdle);
    this.#nextDueAt.set(whenIdle, next);
    return next;
  }

  #computeNextDueAt(whenIdle: boolean): number | null {
    let earliest: number | null = null;
    for (const job of this.#jobs) {
      if (job.whenIdle !== whenIdle) continue;
      if (job.dueAt === 0) return 0;
      earliest = Math.min(earliest ?? Infinity, job.dueAt);
    }
    return earliest;
  }

  /** Inserts a job in order, or replaces one that has changed. */
  put(job: WaitingJob): void {
    this.#remove(job.id);
    this.#ends.delete(job.id);
    const at = this.#jobs.findLastIndex(
      (other) => other.priority > job.priority || (other.priority === job.priority && other.seq < job.seq),
    );
    this.#jobs.splice(at + 1, 0, job);
    this.#nextDueAt.clear();
    this.#byId.set(job.id, job);
    if (job.key !== null) this.#byKey.set(job.key, job);
    this.#bytes += bytesOf(job);
  }

  end(id: string, end: JobEnd): void {
    this.#remove(id);
    this.#ends.set(id, end);
    const [oldest] = this.#ends.keys();
    if (this.#ends.size > maxKnownEnds && oldest !== undefined) this.#ends.delete(oldest);
  }

  #remove(id: string): void {
    const job = this.#byId.get(id);
    if (job === undefined) return;
    this.#jobs.splice(this.#jobs.indexOf(job), 1);
    this.#nextDueAt.clear();
    this.#byId.delete(id);
    if (job.key !== null) this.#byKey.delete(job.key);
    this.#bytes -= bytesOf(job);
  }
}

function bytesOf({ inputBytes, checkpointBytes }: WaitingJob): number {
  return inputBytes + checkpointBytes;
}
