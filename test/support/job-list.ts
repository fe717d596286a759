import type { Client } from "./client.ts";
import { until } from "./until.ts";

/** A job in the form of `lares/jobs/list`. */
interface Job {
  readonly id: string;
  readonly agent: string;
  readonly name: string;
  readonly state: "Waiting" | "Running" | "Cancelling" | "Cancelled";
  readonly priority: string;
  readonly when_idle: boolean;
  readonly key?: string;
  readonly dispatched: string;
  readonly due?: string;
  readonly attempt: number;
  readonly progress?: { readonly fraction: number; readonly message?: string };
  readonly checkpoint: boolean;
}

interface JobList {
  readonly items: readonly Job[];
  readonly total: number;
}

export const listJobs = (client: Client, params: object = {}): Promise<JobList> =>
  client.request("lares/jobs/list", params);

export const cancelJob = (client: Client, id: string, more: object = {}): Promise<Job> =>
  client.request("lares/jobs/cancel", { id, ...more });

/** Waits until the job is listed as one that `matches`. */
export function listedAs(client: Client, id: string, matches: (job: Job) => boolean): Promise<Job> {
  return until(`job ${id} to be listed so`, async () =>
    (await listJobs(client, { limit: 1000 })).items.find((job) => job.id === id && matches(job)),
  );
}

/** Waits until the job is not listed any more. */
export function notListed(client: Client, id: string): Promise<unknown> {
  return until(
    `job ${id} to be gone`,
    async () => !(await listJobs(client, { limit: 1000 })).items.some((job) => job.id === id),
  );
}
