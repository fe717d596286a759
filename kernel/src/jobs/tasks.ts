import { limitExceeded, notFound } from "../base/errors.ts";
import { canonicalJson, type JsonValue } from "../base/json.ts";
import type { Foreign } from "../base/vocabulary/foreign.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import type { Database } from "../platform/database/database.ts";
import { failpoint } from "../platform/failpoint.ts";
import { sha256Hex } from "../platform/files/hash.ts";
import { foreignText, readForeign } from "./stored-parts.ts";

/** Bounds on the results of tasks; sizes in bytes of JSON. */
export const taskLimits = {
  resultBytes: 256 * 1024,
  ofOneJob: 10_000,
  bytesOfAgent: 64 * 1024 * 1024,
} as const;

/** The stored result of a task, and the untrusted texts that it may contain. */
interface TaskResult {
  readonly result: JsonValue;
  readonly foreign: Foreign;
}

/** Returns the key of a task: a hash of its name and the canonical form of its input. */
export function taskKey(name: string, input: JsonValue): string {
  return sha256Hex(canonicalJson({ name, input }));
}

/** The results of tasks inside of unfinished and dead jobs. They end with their job. */
export class JobTasks {
  readonly #database: Database;
  /** Bytes of each agent's results, cached after the first count. */
  readonly #bytes = new Map<string, number>();
  /** An agent's results are stored one after the other, because each is counted with those before. Its open calls bound them. */
  readonly #turns = new OneAtATime();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Resets the count when a job of the agent has ended, and its results were removed. */
  jobEnded(agent: string): void {
    this.#bytes.delete(agent);
  }

  /** Returns the stored result; null if the task is not done. */
  async result(job: string, key: string): Promise<TaskResult | null> {
    const [row] = await this.#database.query<{ result: string; read_before: string | null }>(
      "SELECT result, read_before FROM job_tasks WHERE job = ? AND key = ?",
      [job, key],
    );
    if (row === undefined) return null;
    return { result: JSON.parse(row.result) as JsonValue, foreign: readForeign(row.read_before) };
  }

  /** Resolves when the result is stored. Rejects with LimitExceeded; with NotFound if the job has ended meanwhile. */
  store(agent: string, job: string, key: string, result: TaskResult): Promise<void> {
    return this.#turns.run(agent, () => this.#store(agent, job, key, result));
  }

  async #store(agent: string, job: string, key: string, { result, foreign }: TaskResult): Promise<void> {
    const text = JSON.stringify(result);
    const bytes = Buffer.byteLength(text);
    if (bytes > taskLimits.resultBytes)
      throw limitExceeded(
        "task_result_bytes",
        bytes,
        `The result of the task has ${bytes} bytes of JSON; at most ${taskLimits.resultBytes} are kept. Put larger data into memory or a file, and return its path.`,
      );
    const [now] = await this.#database.query<{ tasks: number }>(
      "SELECT count(*) AS tasks FROM job_tasks WHERE job = ?",
      [job],
    );
    if ((now?.tasks ?? 0) >= taskLimits.ofOneJob)
      throw limitExceeded(
        "tasks_of_job",
        taskLimits.ofOneJob,
        `${taskLimits.ofOneJob} tasks of this job are done, which is the limit. Give each more to do, or dispatch another job.`,
      );
    const before = await this.#bytesOf(agent);
    if (before + bytes > taskLimits.bytesOfAgent)
      throw limitExceeded(
        "task_bytes",
        before + bytes,
        `The results of tasks of ${agent} would have more than ${taskLimits.bytesOfAgent} bytes. Return less from each.`,
      );
    failpoint("jobs.task.begun");
    // Stores nothing if a person has cancelled the job in the meantime.
    await this.#database.batch([
      {
        sql: `INSERT OR REPLACE INTO job_tasks (agent, job, key, result, read_before)
              SELECT agent, id, ?, ?, ? FROM jobs WHERE id = ?`,
        params: [key, text, foreignText(foreign), job],
      },
    ]);
    failpoint("jobs.task.committed");
    const [stored] = await this.#database.query("SELECT 1 FROM job_tasks WHERE job = ? AND key = ?", [
      job,
      key,
    ]);
    if (stored === undefined) throw notFound("job", job);
    this.#bytes.set(agent, before + bytes);
  }

  async #bytesOf(agent: string): Promise<number> {
    const known = this.#bytes.get(agent);
    if (known !== undefined) return known;
    const [all] = await this.#database.query<{ bytes: number }>(
      "SELECT coalesce(sum(octet_length(result)), 0) AS bytes FROM job_tasks WHERE agent = ?",
      [agent],
    );
    return all?.bytes ?? 0;
  }
}
