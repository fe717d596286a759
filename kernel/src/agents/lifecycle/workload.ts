import type { Clock } from "../../base/clock.ts";
import { DeliveryLoop, type Recipient } from "../delivery/delivery.ts";
import { JobLoop, type JobAgent } from "../running-jobs/job-loop.ts";
import type { MetricsRecorder } from "../metrics.ts";
import type { InHand, SupervisorPorts } from "../ports.ts";

interface WorkloadOptions {
  readonly ports: Pick<SupervisorPorts, "queue" | "jobs" | "jobProgress">;
  readonly clock: Clock;
  readonly metrics: MetricsRecorder;
  readonly ratePerSecond: number;
  readonly agent: Recipient & Omit<JobAgent, "isTryingEventAgain">;
}

/** What one agent has to do: its events, one after the other, and beside them its jobs. */
export class Workload {
  readonly jobs: JobLoop;
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
      onTriedAgain: () => this.jobs.pump(),
    });
    this.#deliveries = deliveries;
    this.jobs = new JobLoop({
      queue: ports.jobs,
      clock,
      metrics,
      agent: { ...agent, isTryingEventAgain: () => deliveries.isTryingAgain },
      tell: (progress) => ports.jobProgress(progress),
    });
  }

  /** Of events. */
  set ratePerSecond(rate: number) {
    this.#deliveries.ratePerSecond = rate;
  }

  get isDelivering(): boolean {
    return this.#deliveries.isRunning;
  }

  /** Hands something over, or waits for what it handed over. */
  get isAtWork(): boolean {
    return this.isDelivering || this.jobs.isLooping;
  }

  /** What the guest is working on. With a job and an event in hand, what it says belongs to the event: that is answered sooner. */
  get inHand(): InHand {
    const job = this.jobs.inHand;
    return { ...(job === undefined ? {} : { job, traceId: job }), ...this.#deliveries.inHand };
  }

  /** True where events wait. */
  get hasEvents(): boolean {
    return this.#options.ports.queue.depth(this.#options.agent.id) > 0;
  }

  /** True where a job may begin now, or might have begun already. */
  get hasJobsNow(): boolean {
    const dueAt = this.jobs.nextDueAt(false);
    return dueAt !== null && dueAt <= this.#options.clock.now();
  }

  /** True where nothing waits but what waits for just that. */
  get isQuiet(): boolean {
    return !this.hasEvents && this.jobs.nextDueAt(false) === null;
  }

  get isDone(): boolean {
    return !this.hasEvents && this.jobs.depth === 0;
  }

  /** When a loop that rests has something to hand over next, in milliseconds since 1970; null where none has. */
  get nextDueAt(): number | null {
    const { ports, agent } = this.#options;
    // A loop that runs asks for what is due itself, and rests when there is no more.
    const events = this.isDelivering ? null : ports.queue.nextDueAt(agent.id);
    const times = [events, this.jobs.nextDueAt(false)].filter((time) => time !== null);
    return times.length === 0 ? null : Math.min(...times);
  }

  pump(): void {
    this.#deliveries.pump();
    this.jobs.pump();
  }
}
