import type { Clock } from "../../base/clock.ts";
import { illegalTransition, isLaresError, messageOf, requestCancelled } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import { nothingForeign } from "../../base/vocabulary/foreign.ts";
import type { Job, KeptJob } from "../../base/vocabulary/job.ts";
import { actorWords, lineageUnder, type Principal } from "../../base/vocabulary/principal.ts";
import { backoffMs } from "../backoff.ts";
import { isTransient, putBackRetryMs, stackOf } from "../delivery/delivery.ts";
import { describeJob } from "./describe-job.ts";
import { isTriedAgain } from "./tries.ts";
import { refuseUnknown } from "./unknown-name.ts";
import type { JobAgent } from "./job-agent.ts";
import { JobProgressMeter, type LastShown } from "./job-progress.ts";
import type { StoppedWork } from "../stopped-work.ts";
import type { TraceContext } from "../trace-writer.ts";
import type { MetricsRecorder } from "../metrics.ts";
import type { AgentSession, JobOutcome, JobProgress, JobQueue, JobRequest, QueuedJob } from "../ports.ts";

/** Time for a guest to leave a cancelled job; then it is told to shut down. */
export const cancelGraceMs = 2_000;

interface JobLoopOptions {
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly metrics: MetricsRecorder;
  readonly agent: JobAgent;
  readonly stopped: Pick<StoppedWork, "isStopped"> | undefined;
  tell(progress: JobProgress): void;
}

interface RunningJob {
  readonly job: QueuedJob;
  readonly session: AgentSession;
  readonly meter: JobProgressMeter;
  /** The job at the time a user cancelled it. */
  cancelled: KeptJob | null;
  /** The deadline for the guest to leave it. */
  grace: Disposable | null;
}

interface Ended {
  readonly outcome: JobOutcome;
  /** Stores the outcome. */
  settle(): Promise<void>;
}

/** The context for the job's traces. */
const contextOf = ({ id, lineage: { onBehalfOf } }: QueuedJob): TraceContext => ({ traceId: id, onBehalfOf });

const nothingToSettle = (): Promise<void> => Promise.resolve();

/**
 * Runs an agent's jobs, one at a time, beside its events. A job is tried three times from its last checkpoint; then it is
 * dead. Lost guests are counted since the last checkpoint, errors of the handler since the dispatch. If a guest is ended on
 * purpose, the job is unchanged. A user may cancel a job at any time; the ledger decides whether cancellation or
 * completion came first.
 */
export class JobLoop {
  readonly #options: JobLoopOptions;
  #running: RunningJob | null = null;
  /** The guest that ended last: it receives nothing more, even before the state reflects its end. */
  #lostSession: AgentSession | null = null;
  readonly #lastShown: LastShown = { at: -Infinity };
  #isLooping = false;
  #again = false;
  /** Idle time was granted: the next job may be one that waited for it. */
  #isQuiet = false;

  constructor(options: JobLoopOptions) {
    this.#options = options;
  }

  /** The id of the running job. */
  get inHand(): string | undefined {
    return this.#running?.job.id;
  }

  /** True from the search for the first job until the end of the last one. */
  get isLooping(): boolean {
    return this.#isLooping;
  }

  /** The running job, for display. */
  get running(): Job | null {
    const { agent, queue } = this.#options;
    if (this.#running === null) return null;
    const { job, meter, cancelled } = this.#running;
    const kept = cancelled ?? queue.find(agent.id, job.id);
    if (kept === undefined) return null;
    return describeJob(kept, cancelled === null ? "Running" : "Cancelling", meter.reached);
  }

  /** The jobs that may still run. */
  get depth(): number {
    const { agent, queue } = this.#options;
    return agent.mayRunJobs() ? queue.depth(agent.id) : 0;
  }

  /**
   * When the next job may start, in milliseconds since 1970; null if none may, or one is running. `whenIdle`: of
   * the jobs that wait for idle time, or of the others.
   */
  nextDueAt(whenIdle: boolean): number | null {
    const { agent, queue } = this.#options;
    return this.#isLooping || !agent.mayRunJobs() ? null : queue.nextDueAt(agent.id, whenIdle);
  }

  /** Resolves to the job's id once it is stored. NotFound if the program has no such job. */
  async dispatch(request: JobRequest): Promise<string> {
    const { agent, queue, metrics } = this.#options;
    refuseUnknown("job", request.name, agent.jobNames());
    const { id, isNew } = await queue.dispatch(agent.id, request);
    if (isNew) metrics.job("dispatched");
    this.pump();
    agent.jobsChanged();
    return id;
  }

  /**
   * Cancels a job for `by`. Resolves once it is stored that it does not run again. If a guest is running it, the
   * guest is told, and ended if it does not leave it. Rejects like `JobQueue.cancel`.
   */
  async cancel(by: Principal, id: string): Promise<Job> {
    const { agent, queue, metrics } = this.#options;
    const job = await queue.cancel(agent.id, id);
    metrics.job("cancelled");
    const { onBehalfOf } = lineageUnder(by);
    agent.trace(
      "info",
      `the job ${job.name} was cancelled by ${actorWords(by)}`,
      { job: id },
      { traceId: id, onBehalfOf },
    );
    const running = this.#running?.job.id === id ? this.#running : null;
    if (running === null) agent.rest();
    else this.#tellToLeave(running, job);
    agent.jobsChanged();
    return describeJob(job, running === null ? "Cancelled" : "Cancelling", running?.meter.reached ?? null);
  }

  /** Records the progress of the job that the guest was running when it reported it. */
  progress(id: string | undefined, fraction: number, message?: string): void {
    const { meter } = this.#inHand(id);
    meter.report({ fraction, ...(message === undefined ? {} : { message }) });
    this.#options.agent.jobsChanged();
  }

  /** Resolves once the checkpoint is stored; the job's time limit restarts. */
  async checkpoint(id: string | undefined, data: JsonValue, foreign = nothingForeign): Promise<void> {
    const { agent, queue } = this.#options;
    const { job, session } = this.#inHand(id);
    await queue.checkpoint(agent.id, job.id, data, foreign);
    session.restartBudget();
    agent.jobsChanged();
    agent.mayLeave(session);
  }

  /** Runs the jobs that may start. `isQuiet`: including one that waited for idle time. */
  pump(isQuiet = false): void {
    const { agent } = this.#options;
    this.#again = true;
    this.#isQuiet ||= isQuiet;
    if (this.#isLooping || !this.#canRun()) return;
    this.#isLooping = true;
    this.#loop()
      .catch((error: unknown) => {
        agent.trace("error", `its jobs continue in ${putBackRetryMs} ms: ${messageOf(error)}`);
        return this.#pause();
      })
      .finally(() => {
        this.#isLooping = false;
        agent.rest();
      });
  }

  #canRun(): boolean {
    const { agent } = this.#options;
    // If a guest was lost with an event and a job open, the cause is unknown. The event is retried first, alone,
    // to find out.
    return agent.canDeliver() && agent.mayRunJobs() && !agent.isTryingEventAgain();
  }

  async #loop(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      while (await this.#runNext());
    }
  }

  /** Returns false if there is nothing to run now. */
  async #runNext(): Promise<boolean> {
    const { agent, queue } = this.#options;
    if (!this.#canRun()) return false;
    // Waking the agent may have taken a while.
    this.#isQuiet &&= agent.isStillQuiet();
    const job = await queue.next(agent.id, this.#isQuiet);
    if (job === null || !this.#canRun()) return false;
    const session = agent.session();
    if (session === null) {
      agent.wake(); // becoming Active restarts the loop
      return false;
    }
    if (session === this.#lostSession) return false;
    // It was dispatched while a person stopped the work that wanted it.
    if (this.#options.stopped?.isStopped(job.lineage) === true) {
      await queue.cancel(agent.id, job.id);
      agent.jobsChanged();
      return true;
    }
    // Cancelled while it was read.
    if (!queue.has(agent.id, job.id)) return true;
    this.#isQuiet = false;
    const meter = new JobProgressMeter(
      this.#options.clock,
      { id: job.id, agent: agent.id, name: job.name },
      this.#options.tell,
      this.#lastShown,
    );
    const { outcome, settle } = await this.#run({ job, session, meter, cancelled: null, grace: null });
    const isKept = await this.#untilKept(settle);
    meter.end(isKept ? outcome : "cancelled");
    agent.jobsChanged();
    agent.mayLeave(session);
    return outcome !== "interrupted" || !agent.wasEndedOnPurpose(session);
  }

  async #run(running: RunningJob): Promise<Ended> {
    const { agent } = this.#options;
    const { job, session } = running;
    const { id, name, input, checkpoint } = job;
    this.#running = running;
    agent.open.begin(id, job.lineage);
    agent.open.hear(job.foreign);
    agent.jobsChanged();
    try {
      refuseUnknown("job", name, agent.jobNames());
      await agent.ask(session, "job", {
        id,
        name,
        input,
        ...(checkpoint === undefined ? {} : { checkpoint }),
      });
      if (running.cancelled !== null) return { outcome: "cancelled", settle: nothingToSettle };
      // The answer of a guest that was told to leave does not count: a job that watches its signal returns early.
      if (agent.wasEndedOnPurpose(session)) return { outcome: "interrupted", settle: nothingToSettle };
      return { outcome: "completed", settle: () => this.#completed(job) };
    } catch (error) {
      if (isLaresError(error, "AgentError")) agent.open.abort(id, error);
      return this.#ended(running, error);
    } finally {
      running.grace?.[Symbol.dispose]();
      this.#running = null;
      agent.open.end(id);
    }
  }

  /** Tells the guest to stop and answer the job; a guest that does not is ended. */
  #tellToLeave(running: RunningJob, job: KeptJob): void {
    const { agent, clock } = this.#options;
    const { id, name } = job;
    const end = (reason: string): void => {
      if (this.#running !== running) return;
      agent.trace(
        "warn",
        `the agent is restarted because of the cancelled job ${name}: ${reason}`,
        { job: id },
        { traceId: id },
      );
      agent.endGuest(running.session);
    };
    running.cancelled = job;
    agent.open.abort(id, requestCancelled(`The job ${name} was cancelled.`));
    running.grace = clock.timer(cancelGraceMs, () => end(`it continued for ${cancelGraceMs} ms`));
    agent.ask(running.session, "cancelJob", { id }).catch((error: unknown) => {
      // A guest that has ended has left the job.
      if (!isLaresError(error, "AgentError")) end(messageOf(error));
    });
  }

  async #completed(job: QueuedJob): Promise<void> {
    const { agent, queue, metrics } = this.#options;
    const { id, name } = job;
    await queue.complete(agent.id, id);
    metrics.job("completed");
    agent.trace("info", `the job ${name} is done`, { job: id }, contextOf(job));
    agent.succeeded();
  }

  /** Returns the outcome of a job that did not succeed. */
  #ended({ job, session, cancelled }: RunningJob, error: unknown): Ended {
    const { agent, queue, clock } = this.#options;
    const { id, name } = job;
    const isLost = isLaresError(error, "AgentError");
    if (isLost) this.#lostSession = session;
    if (cancelled !== null) return { outcome: "cancelled", settle: nothingToSettle };
    if (agent.wasEndedOnPurpose(session)) return { outcome: "interrupted", settle: nothingToSettle };
    // A checkpoint of this run resets the attempts.
    const kept = queue.find(agent.id, id);
    const { attempts, failures, hasCheckpoint } = kept ?? {
      attempts: job.attempts,
      failures: 0,
      hasCheckpoint: job.checkpoint !== undefined,
    };
    const attempt = attempts + 1;
    const hasFailed = !isLost && !isTransient(error);
    if (!isTriedAgain({ attempt, failures, hasFailed, isKnown: agent.jobNames().has(name) }))
      return { outcome: "failed", settle: () => this.#failed(job, error, isLost) };
    return {
      outcome: "interrupted",
      settle: async () => {
        await queue.retryLater(agent.id, id, clock.now() + backoffMs(attempt), hasFailed);
        const again = hasCheckpoint ? "continues from its last checkpoint" : "begins again";
        const message = `the job ${name} did not finish and ${again}: ${messageOf(error)}`;
        agent.trace("error", message, { job: id, attempt, ...stackOf(error) }, contextOf(job));
      },
    };
  }

  async #failed(job: QueuedJob, error: unknown, isLost: boolean): Promise<void> {
    const { agent, queue, metrics } = this.#options;
    const { id, name } = job;
    const reason = messageOf(error);
    await queue.fail(agent.id, id, reason);
    metrics.job("failed");
    agent.trace("error", `the job ${name} failed: ${reason}`, { job: id, ...stackOf(error) }, contextOf(job));
    // The lost guest already counts against the agent.
    if (!isLost) agent.failed(`the job ${name} failed: ${reason}`);
  }

  /**
   * Retries a failed write, so that a job that has ended does not run again because of it. Returns false if a user
   * cancelled the job before.
   */
  async #untilKept(settle: () => Promise<void>): Promise<boolean> {
    const { agent } = this.#options;
    for (;;) {
      try {
        await settle();
        return true;
      } catch (error) {
        if (isLaresError(error, "NotFound")) return false;
        agent.trace("error", `a job's end could not be written down yet: ${messageOf(error)}`);
        if (!agent.canDeliver()) return true;
        await this.#pause();
      }
    }
  }

  /** Waits before a retry after a failed write. */
  #pause(): Promise<void> {
    const { clock } = this.#options;
    return new Promise((resolve) => void clock.timer(putBackRetryMs, resolve));
  }

  /** Returns the running job's guest. Throws IllegalTransition unless this job runs and is not being cancelled. */
  runs(id: string | undefined): { readonly job: string; readonly session: AgentSession } {
    const { job, session } = this.#inHand(id);
    return { job: job.id, session };
  }

  #inHand(id: string | undefined): RunningJob {
    if (this.#running === null || this.#running.job.id !== id)
      throw illegalTransition(
        "no job",
        "This can only be said from within a job, while it runs: the kernel has to know which one is meant.",
      );
    if (this.#running.cancelled !== null)
      throw illegalTransition(
        "Cancelled",
        "A person cancelled this job: leave it, nothing more of it is kept.",
      );
    return this.#running;
  }
}
