import type { Job } from "../../base/vocabulary/job.ts";
import { actorWords, lineageUnder, type Principal } from "../../base/vocabulary/principal.ts";
import type { WriteTrace } from "../trace-writer.ts";
import type { JobQueue } from "../ports.ts";
import { describeJob } from "./describe-job.ts";
import type { JobLoop } from "./job-loop.ts";

/** Returns at most `count` jobs that have not ended: running ones, then waiting ones in order. */
export function listJobs(
  queue: JobQueue,
  agents: Iterable<{ readonly id: string; readonly jobs: Pick<JobLoop, "running"> }>,
  count: number,
  agent?: string,
): { readonly items: Job[]; readonly total: number } {
  const running = [...agents].flatMap(({ id, jobs }) =>
    jobs.running === null || (agent !== undefined && id !== agent) ? [] : [jobs.running],
  );
  const isRunning = new Set(running.map(({ id }) => id));
  const { jobs, total } = queue.list(count + running.length, agent);
  const waiting = jobs.filter(({ id }) => !isRunning.has(id)).map((job) => describeJob(job, "Waiting", null));
  // A job that is being cancelled is no longer in the ledger.
  const left = running.filter(({ state }) => state === "Cancelling").length;
  return { items: [...running, ...waiting].slice(0, count), total: total + left };
}

/** Cancels a job whose extension was removed. */
export async function cancelOrphan(
  queue: JobQueue,
  by: Principal,
  owner: string,
  id: string,
  trace: WriteTrace,
): Promise<Job> {
  const job = await queue.cancel(owner, id);
  const { onBehalfOf } = lineageUnder(by);
  const message = `the job ${job.name} was cancelled by ${actorWords(by)}`;
  trace("info", message, { job: id }, { traceId: id, onBehalfOf });
  return describeJob(job, "Cancelled", null);
}
