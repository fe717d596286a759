import type { Clock } from "../../base/clock.ts";
import { DeliveryLoop, type Recipient } from "../delivery/delivery.ts";
import type { JobAgent } from "../running-jobs/job-agent.ts";
import { JobLoop } from "../running-jobs/job-loop.ts";
import { JobTaskRunner } from "../running-jobs/job-tasks.ts";
import type { OpenCalls } from "../calls/open-calls.ts";
import type { MetricsRecorder } from "../metrics.ts";
import type { InHand, SupervisorPorts } from "../ports.ts";

interface WorkloadOptions {
  readonly ports: Pick<SupervisorPorts, "queue" | "jobs" | "jobProgress" | "stopped">;
  readonly clock: Clock;
  readonly metrics: MetricsRecorder;
  readonly ratePerSecond: number;
  /** Maximum number of a job's tasks that run at once. */
  readonly tasksAtOnce: number;
  readonly agent: Recipient &
    Omit<JobAgent, "isTryingEventAgain"> & {
      /** The program's tasks, once it has reported them. */
      taskNames(): ReadonlySet<string>;
      readonly open: Pick<OpenCalls, "begin" | "hear" | "abort" | "end" | "read">;
    };
}

/** The work of one agent: its events, one after the other, and its jobs. */
export class Workload {
  readonly jobs: JobLoop;
  readonly tasks: JobTaskRunner;
  readonly #deliveries: DeliveryLoop;
  readonly #options: WorkloadOptions;

  constructor(options: WorkloadOptions) {
    this.#options = options;
    const { ports, clock, metrics, ratePerSecond, agent } = options;
    const deliveries = new DeliveryLoop({
      queue: ports.queue,
      clock,
      metrics,
      ratePerSecond,
      agent,
      stopped: ports.stopped,
      onTriedAgain: () => this.jobs.pump(),
    });
    this.#deliveries = deliveries;
    this.jobs = new JobLoop({
      queue: ports.jobs,
      clock,
      metrics,
      agent: { ...agent, isTryingEventAgain: () => deliveries.isTryingAgain },
      stopped: ports.stopped,
      tell: (progress) => ports.jobProgress(progress),
    });
    this.tasks = new JobTaskRunner(
      { queue: ports.jobs, clock, agent, runs: (job) => this.jobs.runs(job) },
      options.tasksAtOnce,
    );
  }

  /** Number of open events. */
  set ratePerSecond(rate: number) {
    this.#deliveries.ratePerSecond = rate;
  }

  get isDelivering(): boolean {
    return this.#deliveries.isRunning;
  }

  /** True while it delivers events or waits for their answers. */
  get isAtWork(): boolean {
    return this.isDelivering || this.jobs.isLooping;
  }

  /**
   * The guest's current work. If both a job and an event are open, requests are attributed to the event, which
   * ends sooner.
   */
  get inHand(): InHand {
    const job = this.jobs.inHand;
    return { ...(job === undefined ? {} : { job, traceId: job }), ...this.#deliveries.inHand };
  }

  /** True where events wait. */
  get hasEvents(): boolean {
    return this.#options.ports.queue.depth(this.#options.agent.id) > 0;
  }

  /** True if a job may start now or may already have started. */
  get hasJobsNow(): boolean {
    const dueAt = this.jobs.nextDueAt(false);
    return dueAt !== null && dueAt <= this.#options.clock.now();
  }

  /** True if all waiting jobs wait for idle time. */
  get isQuiet(): boolean {
    return !this.hasEvents && this.jobs.nextDueAt(false) === null;
  }

  get isDone(): boolean {
    return !this.hasEvents && this.jobs.depth === 0;
  }

  /** When an inactive loop has something to do next, in milliseconds since 1970; null if never. */
  get nextDueAt(): number | null {
    const { ports, agent } = this.#options;
    // An active loop asks for due work itself and stops when there is none.
    const events = this.isDelivering ? null : ports.queue.nextDueAt(agent.id);
    const times = [events, this.jobs.nextDueAt(false)].filter((time) => time !== null);
    return times.length === 0 ? null : Math.min(...times);
  }

  pump(): void {
    this.#deliveries.pump();
    this.jobs.pump();
  }
}
