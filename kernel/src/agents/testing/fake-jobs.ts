import { illegalTransition, notFound } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import { ownAccord } from "../../base/vocabulary/principal.ts";
import type { KeptJob } from "../../base/vocabulary/job.ts";
import type { JobQueue, JobRequest, QueuedJob, TaskResult } from "../ports.ts";

interface FakeJob extends QueuedJob {
  readonly agent: string;
  readonly whenIdle: boolean;
  readonly key: string | undefined;
  readonly dueAt: number;
  readonly failures: number;
}

/** The contract of the durable job queue, in memory, without priorities. */
export class FakeJobs implements JobQueue {
  jobs: FakeJob[] = [];
  readonly completed: string[] = [];
  readonly failed: { id: string; reason: string }[] = [];
  readonly cancelled: string[] = [];
  /** The next operation of the ledger waits for it. */
  gate: Promise<void> = Promise.resolve();
  /** Thrown by every write while it is set. */
  fault: Error | null = null;
  /** Thrown in order by the next reads of a job. */
  readFaults: Error[] = [];
  readonly #now: () => number;
  readonly #results = new Map<string, TaskResult>();
  #count = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(now: () => number) {
    this.#now = now;
  }

  async causedIn(conversation: string): Promise<readonly FakeJob[]> {
    return this.jobs.filter(({ lineage }) =>
      lineage.onBehalfOf.some((by) => by.kind === "process" && by.conversation === conversation),
    );
  }

  async dispatch(agent: string, request: JobRequest): Promise<{ id: string; isNew: boolean }> {
    const { name, input, whenIdle, key, lineage = ownAccord, foreign = {} } = request;
    const same = key === undefined ? undefined : this.jobs.find((job) => job.key === key);
    if (same !== undefined) return { id: same.id, isNew: false };
    this.#count += 1;
    const id = `job-${this.#count}`;
    this.jobs.push({
      agent,
      id,
      name,
      input,
      attempts: 0,
      whenIdle,
      key,
      lineage,
      foreign,
      dueAt: 0,
      failures: 0,
    });
    return { id, isNew: true };
  }

  has(_agent: string, id: string): boolean {
    return this.jobs.some((job) => job.id === id);
  }

  find(_agent: string, id: string): KeptJob | undefined {
    const job = this.jobs.find((one) => one.id === id);
    return job === undefined ? undefined : kept(job);
  }

  list(count: number, agent?: string): { jobs: KeptJob[]; total: number } {
    const jobs = this.jobs.filter((job) => agent === undefined || job.agent === agent);
    return { jobs: jobs.slice(0, count).map(kept), total: jobs.length };
  }

  ownerOf(id: string): string | undefined {
    return this.jobs.find((job) => job.id === id)?.agent;
  }

  async next(_agent: string, isQuiet: boolean): Promise<QueuedJob | null> {
    const fault = this.readFaults.shift();
    if (fault !== undefined) throw fault;
    const due = this.jobs.find(({ dueAt, whenIdle }) => dueAt <= this.#now() && (isQuiet || !whenIdle));
    if (due === undefined) return null;
    const { id, name, input, lineage, foreign, attempts, checkpoint } = due;
    return {
      id,
      name,
      input,
      lineage,
      foreign,
      attempts,
      ...(checkpoint === undefined ? {} : { checkpoint }),
    };
  }

  nextDueAt(_agent: string, whenIdle: boolean): number | null {
    const times = this.jobs.filter((job) => job.whenIdle === whenIdle).map((job) => job.dueAt);
    return times.length === 0 ? null : Math.min(...times);
  }

  depth(): number {
    return this.jobs.length;
  }

  async checkpoint(_agent: string, id: string, data: JsonValue): Promise<void> {
    await this.#turn();
    this.#change(id, (job) => ({ ...job, checkpoint: data, attempts: 0 }));
  }

  async retryLater(_agent: string, id: string, dueAt: number, hasFailed: boolean): Promise<void> {
    await this.#turn();
    const failed = hasFailed ? 1 : 0;
    this.#change(id, (job) => ({
      ...job,
      attempts: job.attempts + 1,
      failures: job.failures + failed,
      dueAt,
    }));
  }

  async complete(_agent: string, id: string): Promise<void> {
    await this.#turn();
    this.#change(id, () => null);
    this.completed.push(id);
  }

  async fail(_agent: string, id: string, reason: string): Promise<void> {
    await this.#turn();
    this.#change(id, () => null);
    this.failed.push({ id, reason });
  }

  async cancel(agent: string, id: string): Promise<KeptJob> {
    await this.#turn();
    const job = this.find(agent, id);
    const hasEnded = [...this.completed, ...this.cancelled].includes(id);
    if (job === undefined && hasEnded) throw illegalTransition("Ended", `The job "${id}" has ended.`);
    this.#change(id, () => null);
    this.cancelled.push(id);
    if (job === undefined) throw notFound("job", id);
    return job;
  }

  readonly tasks: JobQueue["tasks"] = {
    result: async (job, key) => this.#results.get(`${job} ${key}`) ?? null,
    store: async (_agent, job, key, result) => {
      await this.#turn();
      this.#change(job, (one) => one);
      this.#results.set(`${job} ${key}`, result);
    },
  };

  /** One per query, in order. */
  #turn(): Promise<void> {
    this.#last = this.#last.then(() => this.gate);
    return this.#last;
  }

  #change(id: string, change: (job: FakeJob) => FakeJob | null): void {
    if (this.fault !== null) throw this.fault;
    if (!this.jobs.some((job) => job.id === id)) throw notFound("job", id);
    this.jobs = this.jobs.map((job) => (job.id === id ? change(job) : job)).filter((job) => job !== null);
  }
}

function kept({ id, agent, name, key, whenIdle, attempts, failures, dueAt, checkpoint }: FakeJob): KeptJob {
  const hasCheckpoint = checkpoint !== undefined;
  const rest = { priority: "normal", dispatchedAt: 0 } as const;
  return { id, agent, name, key: key ?? null, whenIdle, attempts, failures, dueAt, hasCheckpoint, ...rest };
}
