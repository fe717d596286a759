import type { Caller, JobRequest } from "../../../agents/ports.ts";
import type { JsonValue } from "../../../base/json.ts";
import type { GuestServices } from "../../../protocol/guest/v1/calls.ts";
import type { jobCalls } from "../../../protocol/guest/v1/jobs.ts";

export interface JobPorts {
  dispatch(agent: string, request: JobRequest): Promise<string>;
  /** `job`: the one that the agent's guest was running when it sent the request. */
  progress(agent: string, job: string | undefined, fraction: number, message?: string): void;
  checkpoint(agent: string, job: string | undefined, data: JsonValue): Promise<void>;
}

/** The guest ABI's `jobs/*`. */
export function jobServices(jobs: JobPorts): Pick<GuestServices<Caller>, keyof typeof jobCalls> {
  return {
    "jobs/dispatch": async ({ agent, lineage }, { when_idle, priority = "normal", ...request }) => ({
      id: await jobs.dispatch(agent, { ...request, priority, whenIdle: when_idle === true, lineage }),
    }),
    "jobs/progress": async ({ agent, job }, { fraction, message }) => {
      jobs.progress(agent, job, fraction, message);
      return {};
    },
    "jobs/checkpoint": async ({ agent, job }, { data }) => {
      await jobs.checkpoint(agent, job, data);
      return {};
    },
  };
}
