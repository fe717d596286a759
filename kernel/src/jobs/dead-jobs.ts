import { illegalTransition, LaresError, notFound } from "../base/errors.ts";
import type { DeadJob } from "../base/vocabulary/job.ts";
import type { Database, Statement } from "../platform/database/database.ts";
import { priorityNames, type WaitingJob } from "./line.ts";

/** Dead jobs kept per agent; the oldest are dropped first. */
export const maxFailedJobs = 1000;
/** Bytes of their inputs and checkpoints, per agent; the newest is always kept. */
const maxFailedBytes = 16 * 1024 * 1024;

/** Bytes of JSON, as `input` and `checkpoint` hold it. */
export const inputBytes = "octet_length(input)";
export const checkpointBytes = "coalesce(octet_length(checkpoint), 0)";

/** Selects an agent's dead jobs over the limits; ?1 is the agent's id. */
const dropped = `SELECT seq, id FROM (
    SELECT seq, id, row_number() OVER newest AS place, sum(${inputBytes} + ${checkpointBytes}) OVER newest AS through
    FROM jobs_failed WHERE agent = ?1 WINDOW newest AS (ORDER BY seq DESC))
  WHERE (place > ${maxFailedJobs} OR through > ${maxFailedBytes})
    AND seq < (SELECT max(seq) FROM jobs_failed WHERE agent = ?1)`;

interface Row {
  readonly id: string;
  readonly agent: string;
  readonly name: string;
  readonly key: string | null;
  readonly inputBytes: number;
  readonly checkpointBytes: number;
  /** Null if the job died under an older kernel, which did not store on whose behalf it ran. */
  readonly priority: number | null;
  readonly when_idle: number | null;
  readonly attempts: number;
  readonly failures: number;
  readonly dispatched_at: number;
  readonly failed_at: number;
  readonly reason: string;
}

const columns = `id, agent, name, key, ${inputBytes} AS inputBytes, ${checkpointBytes} AS checkpointBytes, priority,
  when_idle, attempts, failures, dispatched_at, failed_at, reason`;

/** The jobs that were given up, until a person retries or removes them. */
export class DeadJobs {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Lists those of one agent or of all, the latest first. */
  async list(
    count: number,
    agent?: string,
  ): Promise<{ readonly jobs: readonly DeadJob[]; readonly total: number }> {
    const of = agent === undefined ? "" : "WHERE agent = ?1";
    const params = agent === undefined ? [] : [agent];
    // Both at once, or a job that dies in between is counted but not listed.
    const [rows, [all]] = await Promise.all([
      this.#database.query<Row>(
        `SELECT ${columns} FROM jobs_failed ${of} ORDER BY failed_at DESC, seq DESC LIMIT ${Math.max(0, Math.trunc(count))}`,
        params,
      ),
      this.#database.query<{ total: number }>(`SELECT count(*) AS total FROM jobs_failed ${of}`, params),
    ]);
    return { jobs: rows.map(described), total: all?.total ?? 0 };
  }

  /** Throws NotFound. */
  async find(id: string): Promise<{ readonly dead: DeadJob; readonly row: Row }> {
    const [row] = await this.#database.query<Row>(`SELECT ${columns} FROM jobs_failed WHERE id = ?`, [id]);
    if (row === undefined) throw notFound("dead job", id);
    return { dead: described(row), row };
  }
}

/** Moves a job to the dead jobs and drops the agent's oldest ones over the limits. */
export function deadLetterStatements(agent: string, id: string, atMs: number, reason: string): Statement[] {
  return [
    {
      sql: `INSERT INTO jobs_failed (seq, id, agent, name, key, input, checkpoint, attempts, failures, dispatched_at, failed_at, reason,
              priority, when_idle, lineage, read_before)
            SELECT seq, id, agent, name, key, input, checkpoint, attempts, failures, dispatched_at, ?, ?,
              priority, when_idle, lineage, read_before
            FROM jobs WHERE id = ?`,
      params: [atMs, reason, id],
    },
    { sql: "DELETE FROM jobs WHERE id = ?", params: [id] },
    { sql: `DELETE FROM job_tasks WHERE job IN (SELECT id FROM (${dropped}))`, params: [agent] },
    { sql: `DELETE FROM jobs_failed WHERE seq IN (SELECT seq FROM (${dropped}))`, params: [agent] },
  ];
}

/** Removes a dead job and the results of its tasks. */
export function removalStatements(id: string): Statement[] {
  return [
    { sql: "DELETE FROM job_tasks WHERE job = ?", params: [id] },
    { sql: "DELETE FROM jobs_failed WHERE id = ?", params: [id] },
  ];
}

/** Moves a dead job to the end of its agent's queue. It continues from its last checkpoint. */
export function retryStatements(id: string, seq: number): Statement[] {
  return [
    {
      sql: `INSERT INTO jobs (seq, id, agent, name, key, priority, when_idle, input, checkpoint, dispatched_at, lineage, read_before)
            SELECT ?, id, agent, name, key, priority, when_idle, input, checkpoint, dispatched_at,
              json_remove(lineage, '$.begun'), read_before
            FROM jobs_failed WHERE id = ?`,
      params: [seq, id],
    },
    { sql: "DELETE FROM jobs_failed WHERE id = ?", params: [id] },
  ];
}

/**
 * Returns the waiting job for a retry. Throws IllegalTransition for a job from an older kernel, which would run with more
 * authority than before, and Conflict if another job has its key.
 */
export function retriedJob(row: Row, seq: number, isKeyTaken: (key: string) => boolean): WaitingJob {
  const { id, name, key, priority, when_idle: whenIdle } = row;
  if (priority === null || whenIdle === null)
    throw illegalTransition(
      "Dead",
      `The job "${id}" died under an older kernel, which did not store on whose behalf it ran. Remove it, and let its agent dispatch it again.`,
    );
  if (key !== null && isKeyTaken(key))
    throw new LaresError(
      "Conflict",
      `Another job with the key ${JSON.stringify(key)} has not ended. Retry this one afterwards.`,
    );
  return {
    seq,
    id,
    name,
    key,
    priority,
    whenIdle: whenIdle === 1,
    inputBytes: row.inputBytes,
    checkpointBytes: row.checkpointBytes,
    attempts: 0,
    failures: 0,
    dueAt: 0,
    dispatchedAt: row.dispatched_at,
  };
}

function described(row: Row): DeadJob {
  return {
    id: row.id,
    agent: row.agent,
    name: row.name,
    key: row.key,
    priority: priorityNames.get(row.priority ?? 0) ?? "normal",
    whenIdle: row.when_idle === 1,
    dispatchedAt: row.dispatched_at,
    hasCheckpoint: row.checkpointBytes > 0,
    attempts: row.attempts,
    failures: row.failures,
    failedAt: row.failed_at,
    error: row.reason,
  };
}
