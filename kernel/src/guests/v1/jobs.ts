import type { Caller, JobRequest } from "../../agents/ports.ts";
import type { TaskRequest } from "../../agents/running-jobs/job-tasks.ts";
import type { JsonValue } from "../../base/json.ts";
import type { Foreign } from "../../base/vocabulary/foreign.ts";
import { durationMs } from "../../documents/schema/durations.ts";
import { jobLimits, refuseTooLarge } from "../../jobs/limits.ts";
import { taskKey } from "../../jobs/tasks.ts";
import type { GuestServices } from "../../protocol/guest/v1/calls.ts";
import type { jobCalls } from "../../protocol/guest/v1/jobs.ts";

export interface JobPorts {
  dispatch(agent: string, request: JobRequest): Promise<string>;
  /** `job`: the one that the agent's guest was running when it sent the request. */
  /** Returns the result of a task inside of the job, which may have been stored before. */
  task(agent: string, job: string | undefined, request: TaskRequest): Promise<JsonValue>;
  progress(agent: string, job: string | undefined, fraction: number, message?: string): void;
  /** `foreign`: texts that nobody vouches for and that the guest has read; `data` may hold them. */
  checkpoint(agent: string, job: string | undefined, data: JsonValue, foreign: Foreign): Promise<void>;
}

/** The guest ABI's `jobs/*`. */
export function jobServices(jobs: JobPorts): Pick<GuestServices<Caller>, keyof typeof jobCalls> {
  return {
    "jobs/dispatch": async ({ agent, lineage, foreign }, { when_idle, priority = "normal", ...request }) => ({
      id: await jobs.dispatch(agent, {
        ...request,
        priority,
        whenIdle: when_idle === true,
        lineage,
        foreign,
      }),
    }),
    "jobs/task": async ({ agent, job }, { name, input, attempts = 3, backoff = "1s" }) => {
      refuseTooLarge("input", Buffer.byteLength(JSON.stringify(input)), jobLimits.inputBytes);
      const task = { name, input, attempts, backoffMs: durationMs(backoff), key: taskKey(name, input) };
      return { result: await jobs.task(agent, job, task) };
    },
    "jobs/progress": async ({ agent, job }, { fraction, message }) => {
      jobs.progress(agent, job, fraction, message);
      return {};
    },
    "jobs/checkpoint": async ({ agent, job, foreign }, { data }) => {
      await jobs.checkpoint(agent, job, data, foreign);
      return {};
    },
  };
}
