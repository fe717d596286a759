/** How urgent a job is; the higher goes first. */
export const priorities = { low: -1, normal: 0, high: 1 } as const;

export type JobPriority = keyof typeof priorities;

/** What became of a job. */
export type JobEnd = "Completed" | "Failed" | "Cancelled";

/** Of an agent's ended jobs it is known so long what became of them: the last so many, in one kernel's life. */
export const maxKnownEnds = 1000;

/** What is held in memory of a job that has not ended; its input and checkpoint stay in the database. */
export interface WaitingJob {
  /** Of dispatching: what came first goes first, among equals. */
  readonly seq: number;
  readonly id: string;
  readonly name: string;
  readonly key: string | null;
  readonly priority: number;
  /** Begins only in a quiet moment. */
  readonly whenIdle: boolean;
  /** Bytes of JSON, as in `checkpointBytes`. */
  readonly inputBytes: number;
  readonly checkpointBytes: number;
  /** Times that its guest was lost under it since it began or since its last checkpoint. */
  readonly attempts: number;
  /** Milliseconds since 1970; it does not begin before. */
  readonly dueAt: number;
  /** Milliseconds since 1970. */
  readonly dispatchedAt: number;
}

/** One agent's jobs that have not ended, most urgent first. */
export class JobLine {
  readonly #byId = new Map<string, WaitingJob>();
  readonly #byKey = new Map<string, WaitingJob>();
  readonly #jobs: WaitingJob[] = [];
  readonly #ends = new Map<string, JobEnd>();
  #bytes = 0;
  /** By `whenIdle`; asked with every event of the agent, and so computed only where the jobs are others. */
  readonly #nextDueAt = new Map<boolean, number | null>();

  get size(): number {
    return this.#jobs.length;
  }

  /** Of inputs and checkpoints. */
  get bytes(): number {
    return this.#bytes;
  }

  find(id: string): WaitingJob | undefined {
    return this.#byId.get(id);
  }

  /** What became of one that has ended lately. */
  endOf(id: string): JobEnd | undefined {
    return this.#ends.get(id);
  }

  /** Those that come first, in their order. */
  first(count: number): WaitingJob[] {
    return this.#jobs.slice(0, count);
  }

  withKey(key: string): WaitingJob | undefined {
    return this.#byKey.get(key);
  }

  /** The first of those that may begin now; in a quiet moment also one that waits for it. */
  due(nowMs: number, isQuiet: boolean): WaitingJob | null {
    return this.#jobs.find((job) => job.dueAt <= nowMs && (isQuiet || !job.whenIdle)) ?? null;
  }

  /**
   * When the next may begin, in milliseconds since 1970 (0: it might have begun already); null where there is none.
   * `whenIdle`: of those that wait for a quiet moment, or of the others.
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

  /** In its place; also one that is there already and has changed. */
  put(job: WaitingJob): void {
    this.#remove(job.id);
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
