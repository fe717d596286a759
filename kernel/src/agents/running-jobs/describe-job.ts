import { isoTime } from "../../base/clock.ts";
import type { Job, JobState, KeptJob } from "../../base/vocabulary/job.ts";
import type { Reached } from "./job-progress.ts";

/** A job as clients see it. */
export function describeJob(job: KeptJob, state: JobState, reached: Reached | null): Job {
  const { id, agent, name, key, priority, whenIdle, attempts, dueAt, dispatchedAt, hasCheckpoint } = job;
  return {
    id,
    agent,
    name,
    state,
    priority,
    when_idle: whenIdle,
    ...(key === null ? {} : { key }),
    dispatched: isoTime(dispatchedAt),
    ...(state !== "Waiting" || dueAt === 0 ? {} : { due: isoTime(dueAt) }),
    attempt: attempts + 1,
    ...(reached === null ? {} : { progress: reached }),
    checkpoint: hasCheckpoint,
  };
}
