import type { Clock } from "../base/clock.ts";
import { illegalTransition, notFound, storageError } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import type { JsonValue } from "../base/json.ts";
import type { DeadJob, KeptJob } from "../base/vocabulary/job.ts";
import { bothForeign, type Foreign, isForeign, nothingForeign } from "../base/vocabulary/foreign.ts";
import { isOwnAccord, type Lineage } from "../base/vocabulary/principal.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import type { Database, Statement } from "../platform/database/database.ts";
import { failpoint } from "../platform/failpoint.ts";
import { jobLimits, refuseTooLarge, refuseTooMany, refuseTooMuch } from "./limits.ts";
import { type CausedJob, jobsCausedIn } from "./caused-in.ts";
import { foreignText, readForeign, readParts, type StoredParts } from "./stored-parts.ts";
import {
  checkpointBytes,
  deadLetterStatements,
  DeadJobs,
  inputBytes,
  removalStatements,
  retriedJob,
  retryStatements,
} from "./dead-jobs.ts";
import { JobTasks } from "./tasks.ts";
import {
  JobLine,
  priorities,
  priorityNames,
  type JobEnd,
  type JobPriority,
  type WaitingJob,
} from "./line.ts";

export interface JobRequest {
  /** The name in the agent's program. */
  readonly name: string;
  readonly input: JsonValue;
  readonly priority: JobPriority;
  /** Starts only in a quiet moment, which the caller of `next` defines. */
  readonly whenIdle: boolean;
  /** Only one of an agent's unfinished jobs may have a given key. */
  readonly key?: string;
  /** The calls that led to it, if it says so. */
  readonly lineage?: Lineage;
  /** Texts that nobody vouches for and that whoever dispatches it has read: its input may hold them. */
  readonly foreign?: Foreign;
}

/** A job to be started, or continued from its last checkpoint. */
interface Job {
  readonly id: string;
  readonly name: string;
  readonly input: JsonValue;
  readonly checkpoint?: JsonValue;
  readonly lineage: Lineage;
  /** Texts that nobody vouches for and that its input or its checkpoint may hold. */
  readonly foreign: Foreign;
  /** How often it failed or its guest was lost, since the start or the last checkpoint. */
  readonly attempts: number;
}

interface JobRow {
  readonly seq: number;
  readonly id: string;
  readonly agent: string;
  readonly name: string;
  readonly key: string | null;
  readonly priority: number;
  readonly when_idle: number;
  readonly inputBytes: number;
  readonly checkpointBytes: number;
  readonly attempts: number;
  readonly failures: number;
  readonly due_at: number;
  readonly dispatched_at: number;
}

/**
 * The agents' unfinished jobs. A dispatched job and its checkpoints survive the death of any process. A job whose
 * end was not stored runs again from its last checkpoint: at least once.
 */
export class Jobs {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #lines: Map<string, JobLine>;
  #nextSeq: number;
  /** An agent's changes run one after the other, because each is checked against the result of the one before; its open calls bound them. */
  readonly #changes = new OneAtATime();
  readonly dead: DeadJobs;
  readonly tasks: JobTasks;

  private constructor(database: Database, clock: Clock, lines: Map<string, JobLine>, nextSeq: number) {
    this.#database = database;
    this.#clock = clock;
    this.#lines = lines;
    this.#nextSeq = nextSeq;
    this.dead = new DeadJobs(database);
    this.tasks = new JobTasks(database);
  }

  /** Requires a database with `jobsMigrations` applied. */
  static async open(database: Database, clock: Clock): Promise<Jobs> {
    const rows = await database.query<JobRow>(
      `SELECT seq, id, agent, name, key, priority, when_idle, ${inputBytes} AS inputBytes,
         ${checkpointBytes} AS checkpointBytes, attempts, failures, due_at, dispatched_at
       FROM jobs`,
    );
    const lines = new Map<string, JobLine>();
    for (const { agent, when_idle, due_at, dispatched_at, ...row } of rows) {
      const line = lines.get(agent) ?? new JobLine();
      lines.set(agent, line);
      line.put({ ...row, whenIdle: when_idle === 1, dueAt: due_at, dispatchedAt: dispatched_at });
    }
    const [last] = await database.query<{ seq: number }>(
      "SELECT seq FROM sqlite_sequence WHERE name = 'jobs'",
    );
    return new Jobs(database, clock, lines, (last?.seq ?? 0) + 1);
  }

  /**
   * Resolves when the job is stored. If an unfinished job has the same key, returns that one and adds nothing.
   * Rejects with LimitExceeded.
   */
  dispatch(agent: string, request: JobRequest): Promise<{ readonly id: string; readonly isNew: boolean }> {
    return this.#changes.run(agent, async () => {
      const { name } = request;
      // As the database stores it: ill-formed characters all become the same replacement character.
      const key = request.key?.toWellFormed();
      const line = this.#lines.get(agent) ?? new JobLine();
      const same = key === undefined ? undefined : line.withKey(key);
      if (same !== undefined) return { id: same.id, isNew: false };
      const input = JSON.stringify(request.input);
      const bytes = Buffer.byteLength(input);
      refuseTooLarge("input", bytes, jobLimits.inputBytes);
      refuseTooMany(agent, line);
      refuseTooMuch(agent, line.bytes + bytes);
      const job: WaitingJob = {
        seq: this.#nextSeq++,
        id: newId(),
        name,
        key: key ?? null,
        priority: priorities[request.priority],
        whenIdle: request.whenIdle,
        inputBytes: bytes,
        checkpointBytes: 0,
        attempts: 0,
        failures: 0,
        dueAt: 0,
        dispatchedAt: this.#clock.now(),
      };
      failpoint("jobs.dispatch.begun");
      await this.#database.batch([
        {
          sql: `INSERT INTO jobs (seq, id, agent, name, key, priority, when_idle, input, lineage, read_before, dispatched_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          params: [
            job.seq,
            job.id,
            agent,
            name,
            job.key,
            job.priority,
            job.whenIdle ? 1 : 0,
            input,
            request.lineage === undefined || isOwnAccord(request.lineage)
              ? null
              : JSON.stringify(request.lineage),
            foreignText(request.foreign),
            job.dispatchedAt,
          ],
        },
      ]);
      failpoint("jobs.dispatch.committed");
      line.put(job);
      this.#lines.set(agent, line);
      return { id: job.id, isNew: true };
    });
  }

  /**
   * Returns the job to run next: the same one until its state changes. Fails a job that can no longer be read and
   * rejects with StorageError; the next call returns the one after it.
   */
  async next(agent: string, isQuiet: boolean): Promise<Job | null> {
    const due = this.#lines.get(agent)?.due(this.#clock.now(), isQuiet) ?? null;
    if (due === null) return null;
    const [row] = await this.#database.query<StoredParts>(
      "SELECT input, checkpoint, lineage, read_before FROM jobs WHERE id = ?",
      [due.id],
    );
    const kept = row === undefined ? null : readParts(row);
    if (kept !== null) return { id: due.id, name: due.name, ...kept, attempts: due.attempts };
    // A concurrent cancellation must finish first.
    await this.#changes.run(agent, () => Promise.resolve());
    if (!this.has(agent, due.id)) return this.next(agent, isQuiet);
    const reason = "Its row in the ledger was changed.";
    await this.fail(agent, due.id, reason);
    throw storageError(`The job ${due.name} (${due.id}) cannot be read and was given up. ${reason}`);
  }

  /**
   * When the next job may start, in milliseconds since 1970 (0: now); null if there is none. `whenIdle` selects the
   * jobs that wait for a quiet moment, or the others.
   */
  nextDueAt(agent: string, whenIdle: boolean): number | null {
    return this.#lines.get(agent)?.nextDueAt(whenIdle) ?? null;
  }

  /** The number of unfinished jobs. */
  depth(agent: string): number {
    return this.#lines.get(agent)?.size ?? 0;
  }

  /** Returns true if the job is unfinished. */
  has(agent: string, id: string): boolean {
    return this.#lines.get(agent)?.find(id) !== undefined;
  }

  /** Returns the agent of a job, or of one that ended lately; undefined if unknown. */
  ownerOf(id: string): string | undefined {
    for (const [agent, line] of this.#lines)
      if (line.find(id) !== undefined || line.endOf(id) !== undefined) return agent;
    return undefined;
  }

  /** Lists the unfinished jobs of one agent or of all, most urgent first, then in the order of dispatch. */
  list(count: number, agent?: string): { readonly jobs: KeptJob[]; readonly total: number } {
    const lines = [...this.#lines].filter(([owner]) => agent === undefined || owner === agent);
    const jobs = lines
      .flatMap(([owner, line]) => line.first(count).map((job) => ({ owner, job })))
      .toSorted((one, other) => other.job.priority - one.job.priority || one.job.seq - other.job.seq)
      .slice(0, count)
      .map(({ owner, job }) => listed(owner, job));
    return { jobs, total: lines.reduce((sum, [, line]) => sum + line.size, 0) };
  }

  /** Returns an unfinished job; undefined if there is none with this id. */
  find(agent: string, id: string): KeptJob | undefined {
    const job = this.#lines.get(agent)?.find(id);
    return job === undefined ? undefined : listed(agent, job);
  }

  /**
   * Stores where the job continues after a loss of its guest. Resolves then. Rejects with LimitExceeded, NotFound.
   * `foreign`: texts that nobody vouches for and that the guest has read.
   */
  checkpoint(agent: string, id: string, data: JsonValue, foreign = nothingForeign): Promise<void> {
    return this.#change(agent, id, async (line, job) => {
      const text = JSON.stringify(data);
      const bytes = Buffer.byteLength(text);
      refuseTooLarge("checkpoint", bytes, jobLimits.checkpointBytes);
      refuseTooMuch(agent, line.bytes - job.checkpointBytes + bytes);
      failpoint("jobs.checkpoint.begun");
      const [row] = isForeign(foreign)
        ? await this.#database.query<Pick<StoredParts, "read_before">>(
            "SELECT read_before FROM jobs WHERE id = ?",
            [id],
          )
        : [];
      const before = row === undefined ? nothingForeign : readForeign(row.read_before);
      await this.#store({
        sql: "UPDATE jobs SET checkpoint = ?, attempts = 0, read_before = coalesce(?, read_before) WHERE id = ?",
        params: [text, foreignText(isForeign(foreign) ? bothForeign(before, foreign) : undefined), id],
      });
      failpoint("jobs.checkpoint.committed");
      line.put({ ...job, attempts: 0, checkpointBytes: bytes });
    });
  }

  /**
   * Counts an attempt, and with `hasFailed` a failure, which no checkpoint resets. The job does not start again before
   * `dueAt`, in milliseconds since 1970.
   */
  retryLater(agent: string, id: string, dueAt: number, hasFailed: boolean): Promise<void> {
    return this.#change(agent, id, async (line, job) => {
      const failures = job.failures + (hasFailed ? 1 : 0);
      const changed = { ...job, attempts: job.attempts + 1, failures, dueAt: Math.ceil(dueAt) };
      const sql = "UPDATE jobs SET attempts = ?, failures = ?, due_at = ? WHERE id = ?";
      await this.#store({ sql, params: [changed.attempts, failures, changed.dueAt, id] });
      failpoint("jobs.retry.committed");
      line.put(changed);
    });
  }

  complete(agent: string, id: string): Promise<void> {
    return this.#change(agent, id, async (line) => {
      failpoint("jobs.complete.begun");
      await this.#store(...endStatements(id));
      failpoint("jobs.complete.committed");
      line.end(id, "Completed");
      this.tasks.jobEnded(agent);
    });
  }

  /**
   * Removes the job: it never starts again, and its key is free. Resolves, once that is stored, to the job as it
   * was. Rejects with NotFound, and with IllegalTransition if the job has ended: the first stored end wins.
   */
  cancel(agent: string, id: string): Promise<KeptJob> {
    return this.#changes.run(agent, async () => {
      const line = this.#lines.get(agent);
      const job = line?.find(id);
      if (line === undefined || job === undefined) throw noLongerThere(id, line?.endOf(id));
      failpoint("jobs.cancel.begun");
      await this.#store(...endStatements(id));
      failpoint("jobs.cancel.committed");
      line.end(id, "Cancelled");
      this.tasks.jobEnded(agent);
      return listed(agent, job);
    });
  }

  /** Returns the unfinished jobs that processes of a conversation led to. */
  causedIn(conversation: string): Promise<readonly CausedJob[]> {
    return jobsCausedIn(this.#database, conversation);
  }

  /** Gives the job up: it is dead until a person retries or removes it. */
  fail(agent: string, id: string, reason: string): Promise<void> {
    return this.#change(agent, id, async (line) => {
      await this.#store(...deadLetterStatements(agent, id, this.#clock.now(), reason));
      failpoint("jobs.fail.committed");
      line.end(id, "Failed");
      this.tasks.jobEnded(agent);
    });
  }

  /**
   * Lets a dead job run again, from its last checkpoint. Resolves, once that is stored, to the job as it waits. Rejects with
   * NotFound; IllegalTransition for one of an older kernel; Conflict if its key was taken; LimitExceeded.
   */
  async retry(id: string): Promise<KeptJob> {
    const { agent } = (await this.dead.find(id)).dead;
    return await this.#changes.run(agent, async () => {
      // Somebody else may have done the same before.
      const { row } = await this.dead.find(id);
      const line = this.#lines.get(agent) ?? new JobLine();
      refuseTooMany(agent, line);
      const job = retriedJob(row, this.#nextSeq, (key) => line.withKey(key) !== undefined);
      refuseTooMuch(agent, line.bytes + job.inputBytes + job.checkpointBytes);
      this.#nextSeq++;
      failpoint("jobs.revive.begun");
      await this.#store(...retryStatements(id, job.seq));
      failpoint("jobs.revive.committed");
      line.put(job);
      this.#lines.set(agent, line);
      return listed(agent, job);
    });
  }

  /** Removes a dead job for good. Resolves to the job as it was. Rejects with NotFound. */
  async remove(id: string): Promise<DeadJob> {
    const { agent } = (await this.dead.find(id)).dead;
    return await this.#changes.run(agent, async () => {
      const { dead } = await this.dead.find(id);
      await this.#store(...removalStatements(id));
      this.tasks.jobEnded(agent);
      return dead;
    });
  }

  #change(
    agent: string,
    id: string,
    change: (line: JobLine, job: WaitingJob) => Promise<void>,
  ): Promise<void> {
    return this.#changes.run(agent, async () => {
      const line = this.#lines.get(agent);
      const job = line?.find(id);
      if (line === undefined || job === undefined) throw notFound("job", id);
      await change(line, job);
    });
  }

  async #store(...statements: Statement[]): Promise<void> {
    await this.#database.batch(statements);
  }
}

/** Removes a job that has ended, and the results of its tasks. */
function endStatements(id: string): Statement[] {
  return [
    { sql: "DELETE FROM job_tasks WHERE job = ?", params: [id] },
    { sql: "DELETE FROM jobs WHERE id = ?", params: [id] },
  ];
}

function listed(agent: string, job: WaitingJob): KeptJob {
  const { id, name, key, whenIdle, attempts, failures, dueAt, dispatchedAt } = job;
  const priority = priorityNames.get(job.priority) ?? "normal";
  const hasCheckpoint = job.checkpointBytes > 0;
  return { id, agent, name, key, priority, whenIdle, attempts, failures, dueAt, dispatchedAt, hasCheckpoint };
}

function noLongerThere(id: string, end: JobEnd | undefined): Error {
  if (end === undefined) return notFound("job", id);
  return illegalTransition(end, `The job "${id}" is ${end.toLowerCase()} already.`);
}
