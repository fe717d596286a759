import { isoTime } from "../../base/clock.ts";
import type { DeadJob, Job, KeptJob } from "../../base/vocabulary/job.ts";
import { checkPerson, lineageUnder, type Principal } from "../../base/vocabulary/principal.ts";
import type { SupervisorPorts } from "../ports.ts";
import { traceWriter } from "../trace-writer.ts";
import { describeJob } from "./describe-job.ts";

interface DeadJobPorts {
  readonly queue: {
    readonly dead: {
      list(count: number, agent?: string): Promise<{ jobs: readonly DeadJob[]; total: number }>;
    };
    retry(id: string): Promise<KeptJob>;
    remove(id: string): Promise<DeadJob>;
  };
  readonly traces: SupervisorPorts["traces"];
  /** Called when the agent's jobs have changed; a job may be ready to run. */
  changed(agent: string): void;
}

/** Lists dead jobs for a person, who may retry or remove them. */
export class DeadJobDesk {
  readonly #ports: DeadJobPorts;

  constructor(ports: DeadJobPorts) {
    this.#ports = ports;
  }

  async list(count: number, agent?: string): Promise<{ readonly items: Job[]; readonly total: number }> {
    const { jobs, total } = await this.#ports.queue.dead.list(count, agent);
    return { items: jobs.map(describeDead), total };
  }

  async retry(by: Principal, id: string): Promise<Job> {
    checkPerson(by, "retry a dead job");
    const job = await this.#ports.queue.retry(id);
    this.#trace(by, job, `a person lets the dead job ${job.name} run again`);
    this.#ports.changed(job.agent);
    return describeJob(job, "Waiting", null);
  }

  async remove(by: Principal, id: string): Promise<Job> {
    checkPerson(by, "remove a dead job");
    const job = await this.#ports.queue.remove(id);
    this.#trace(by, job, `a person removed the dead job ${job.name}`);
    this.#ports.changed(job.agent);
    return describeDead(job);
  }

  #trace(by: Principal, { id, agent }: Pick<Job, "id" | "agent">, message: string): void {
    const { onBehalfOf } = lineageUnder(by);
    traceWriter(this.#ports.traces, agent)("info", message, { job: id }, { traceId: id, onBehalfOf });
  }
}

function describeDead({ failedAt, error, ...job }: DeadJob): Job {
  // A checkpoint resets the attempts, and leaves the failures.
  const attempts = Math.max(job.attempts, job.failures);
  return { ...describeJob({ ...job, attempts, dueAt: 0 }, "Dead", null), failed: isoTime(failedAt), error };
}
