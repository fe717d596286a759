import type { Statement } from "../platform/database/database.ts";

/** Returns what deletes an agent's jobs, dead ones included, with their inputs, checkpoints and tasks. */
export function forgetJobs(agent: string): Statement[] {
  return ["jobs", "jobs_failed", "job_tasks"].map((table) => ({
    sql: `DELETE FROM ${table} WHERE agent = ?`,
    params: [agent],
  }));
}
