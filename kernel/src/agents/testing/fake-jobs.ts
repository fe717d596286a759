import { notFound } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import type { JobQueue, JobRequest, QueuedJob } from "../ports.ts";

interface FakeJob extends QueuedJob {
  readonly whenIdle: boolean;
  readonly key: string | undefined;
  readonly dueAt: number;
}

/** The contract of the jobs' durable queue, in memory; of priorities it knows nothing. */
export class FakeJobs implements JobQueue {
  jobs: FakeJob[] = [];
  readonly completed: string[] = [];
  readonly failed: { id: string; reason: string }[] = [];
  /** Thrown by whatever writes, while it is set. */
  fault: Error | null = null;
  /** Thrown one after the other where the next job is asked for. */
  readFaults: Error[] = [];
  readonly #now: () => number;
  #count = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  async dispatch(_agent: string, request: JobRequest): Promise<{ id: string; isNew: boolean }> {
    const { name, input, whenIdle, key } = request;
    const same = key === undefined ? undefined : this.jobs.find((job) => job.key === key);
    if (same !== undefined) return { id: same.id, isNew: false };
    this.#count += 1;
    const id = `job-${this.#count}`;
    this.jobs.push({ id, name, input, attempts: 0, whenIdle, key, dueAt: 0 });
    return { id, isNew: true };
  }

  async next(_agent: string, isQuiet: boolean): Promise<QueuedJob | null> {
    const fault = this.readFaults.shift();
    if (fault !== undefined) throw fault;
    const due = this.jobs.find(({ dueAt, whenIdle }) => dueAt <= this.#now() && (isQuiet || !whenIdle));
    if (due === undefined) return null;
    const { id, name, input, attempts, checkpoint } = due;
    return { id, name, input, attempts, ...(checkpoint === undefined ? {} : { checkpoint }) };
  }

  nextDueAt(_agent: string, whenIdle: boolean): number | null {
    const times = this.jobs.filter((job) => job.whenIdle === whenIdle).map((job) => job.dueAt);
    return times.length === 0 ? null : Math.min(...times);
  }

  depth(): number {
    return this.jobs.length;
  }

  async checkpoint(_agent: string, id: string, data: JsonValue): Promise<void> {
    this.#change(id, (job) => ({ ...job, checkpoint: data, attempts: 0 }));
  }

  async retryLater(_agent: string, id: string, dueAt: number): Promise<void> {
    this.#change(id, (job) => ({ ...job, attempts: job.attempts + 1, dueAt }));
  }

  async complete(_agent: string, id: string): Promise<void> {
    this.#change(id, () => null);
    this.completed.push(id);
  }

  async fail(_agent: string, id: string, reason: string): Promise<void> {
    this.#change(id, () => null);
    this.failed.push({ id, reason });
  }

  #change(id: string, change: (job: FakeJob) => FakeJob | null): void {
    if (this.fault !== null) throw this.fault;
    if (!this.jobs.some((job) => job.id === id)) throw notFound("job", id);
    this.jobs = this.jobs.map((job) => (job.id === id ? change(job) : job)).filter((job) => job !== null);
  }
}
