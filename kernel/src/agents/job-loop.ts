import type { Clock } from "../base/clock.ts";
import { illegalTransition, isLaresError, LaresError, messageOf } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import { backoffMs, deliveryAttempts } from "./backoff.ts";
import { isTransient, putBackRetryMs, type Recipient, stackOf } from "./delivery.ts";
import { JobProgressMeter, type LastShown } from "./job-progress.ts";
import type { MetricsRecorder } from "./metrics.ts";
import type { GuestSession, JobOutcome, JobProgress, JobQueue, JobRequest, QueuedJob } from "./ports.ts";

/** A refusal is kept with the job that failed for it: it names no more of what the program has. */
const maxNamesShown = 10;

/** What the loop needs of the agent whose jobs it runs. */
export interface JobAgent extends Pick<
  Recipient,
  | "id"
  | "canDeliver"
  | "session"
  | "wake"
  | "ask"
  | "wasEndedOnPurpose"
  | "succeeded"
  | "failed"
  | "trace"
  | "rest"
> {
  /** It is granted `dispatch_jobs`: what it dispatched before that was taken back waits. */
  mayRunJobs(): boolean;
  /** The jobs that its program has, once it has said so. */
  jobNames(): ReadonlySet<string>;
  /** A guest was lost over an event that has not been handled since. */
  isTryingEventAgain(): boolean;
}

export interface JobLoopOptions {
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly metrics: MetricsRecorder;
  readonly agent: JobAgent;
  tell(progress: JobProgress): void;
}

interface RunningJob {
  readonly job: QueuedJob;
  readonly session: GuestSession;
  readonly meter: JobProgressMeter;
}

/**
 * Runs an agent's jobs, one at a time, beside its events. A handler that throws has failed; a guest that is lost under
 * a job gets it again from its last checkpoint, three times without one; a guest that is ended on purpose leaves it as
 * it is.
 */
export class JobLoop {
  readonly #options: JobLoopOptions;
  #running: RunningJob | null = null;
  /** The guest that ended last: it gets nothing more, also before its end has become a state. */
  #lostSession: GuestSession | null = null;
  readonly #lastShown: LastShown = { at: -Infinity };
  #isLooping = false;
  #again = false;
  /** A quiet moment was given: the next job may be one that waited for it. */
  #isQuiet = false;

  constructor(options: JobLoopOptions) {
    this.#options = options;
  }

  /** The id of the job that the guest is running. */
  get inHand(): string | undefined {
    return this.#running?.job.id;
  }

  /** Jobs that may still run. */
  get depth(): number {
    const { agent, queue } = this.#options;
    return agent.mayRunJobs() ? queue.depth(agent.id) : 0;
  }

  /**
   * When the next may begin, in milliseconds since 1970; null where none may, or one is running. `whenIdle`: of those
   * that wait for a quiet moment, or of the others.
   */
  nextDueAt(whenIdle: boolean): number | null {
    const { agent, queue } = this.#options;
    return this.#isLooping || !agent.mayRunJobs() ? null : queue.nextDueAt(agent.id, whenIdle);
  }

  /** Resolves to the job's id when it is kept. NotFound where the program has no such job. */
  async dispatch(request: JobRequest): Promise<string> {
    const { agent, queue, metrics } = this.#options;
    this.#refuseUnknown(request.name);
    const { id, isNew } = await queue.dispatch(agent.id, request);
    if (isNew) metrics.job("dispatched");
    this.pump();
    return id;
  }

  /** How far the job is that its guest was running when it said so. */
  progress(id: string | undefined, fraction: number, message?: string): void {
    const { meter } = this.#inHand(id);
    meter.report({ fraction, ...(message === undefined ? {} : { message }) });
  }

  /** Resolves when it is kept; the job's time begins anew. */
  async checkpoint(id: string | undefined, data: JsonValue): Promise<void> {
    const { agent, queue } = this.#options;
    const { job, session } = this.#inHand(id);
    await queue.checkpoint(agent.id, job.id, data);
    session.restartBudget();
  }

  /** Runs what may begin. `isQuiet`: also one job that waited for a quiet moment. */
  pump(isQuiet = false): void {
    const { agent } = this.#options;
    this.#again = true;
    this.#isQuiet ||= isQuiet;
    if (this.#isLooping || !this.#canRun()) return;
    this.#isLooping = true;
    this.#loop()
      .catch((error: unknown) => {
        agent.trace("error", `its jobs go on in ${putBackRetryMs} ms: ${messageOf(error)}`);
        return this.#pause();
      })
      .finally(() => {
        this.#isLooping = false;
        agent.rest();
      });
  }

  #canRun(): boolean {
    const { agent } = this.#options;
    // Of an event and a job nobody knows which one a guest was lost over: the event goes first, alone, and shows it.
    return agent.canDeliver() && agent.mayRunJobs() && !agent.isTryingEventAgain();
  }

  async #loop(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      while (await this.#runNext());
    }
  }

  /** False where there is nothing to run now. */
  async #runNext(): Promise<boolean> {
    const { agent, queue } = this.#options;
    if (!this.#canRun()) return false;
    const job = await queue.next(agent.id, this.#isQuiet);
    if (job === null || !this.#canRun()) return false;
    const session = agent.session();
    if (session === null) {
      agent.wake(); // becoming Active starts the loop anew
      return false;
    }
    if (session === this.#lostSession) return false;
    this.#isQuiet = false;
    const { outcome, settle } = await this.#run(session, job);
    await this.#untilKept(settle);
    return outcome !== "interrupted" || !agent.wasEndedOnPurpose(session);
  }

  async #run(
    session: GuestSession,
    job: QueuedJob,
  ): Promise<{ readonly outcome: JobOutcome; settle(): Promise<void> }> {
    const { agent, clock, tell } = this.#options;
    const { id, name, input, checkpoint } = job;
    const meter = new JobProgressMeter(clock, { id, agent: agent.id, name }, tell, this.#lastShown);
    this.#running = { job, session, meter };
    let outcome: JobOutcome = "interrupted";
    try {
      this.#refuseUnknown(name);
      await agent.ask(session, "job", {
        id,
        name,
        input,
        ...(checkpoint === undefined ? {} : { checkpoint }),
      });
      // What a guest says that was told to go is what being told made of it: a job that looks at its signal returns.
      const isOver = !agent.wasEndedOnPurpose(session);
      if (isOver) outcome = "completed";
      return { outcome, settle: () => (isOver ? this.#completed(job) : Promise.resolve()) };
    } catch (error) {
      const ended = this.#ended(session, job, error);
      ({ outcome } = ended);
      return ended;
    } finally {
      this.#running = null;
      meter.end(outcome);
    }
  }

  async #completed({ id, name }: QueuedJob): Promise<void> {
    const { agent, queue, metrics } = this.#options;
    await queue.complete(agent.id, id);
    metrics.job("completed");
    agent.trace("info", `the job ${name} is done`, { job: id }, undefined, id);
    agent.succeeded();
  }

  /** What becomes of a job that did not answer well. */
  #ended(
    session: GuestSession,
    job: QueuedJob,
    error: unknown,
  ): { readonly outcome: JobOutcome; settle(): Promise<void> } {
    const { agent, queue, clock } = this.#options;
    const isLost = isLaresError(error, "AgentError");
    if (isLost) this.#lostSession = session;
    if (agent.wasEndedOnPurpose(session)) return { outcome: "interrupted", settle: () => Promise.resolve() };
    const attempt = job.attempts + 1;
    const isTriedAgain = (isLost || isTransient(error)) && attempt < deliveryAttempts;
    if (!isTriedAgain) return { outcome: "failed", settle: () => this.#failed(job, error, isLost) };
    const fields = { job: job.id, attempt };
    const message = `the job ${job.name} did not finish, it goes on from its last checkpoint: ${messageOf(error)}`;
    agent.trace("error", message, fields, undefined, job.id);
    return {
      outcome: "interrupted",
      settle: () => queue.retryLater(agent.id, job.id, clock.now() + backoffMs(attempt)),
    };
  }

  async #failed({ id, name }: QueuedJob, error: unknown, isLost: boolean): Promise<void> {
    const { agent, queue, metrics } = this.#options;
    const reason = messageOf(error);
    await queue.fail(agent.id, id, reason);
    metrics.job("failed");
    agent.trace("error", `the job ${name} failed: ${reason}`, { job: id, ...stackOf(error) }, undefined, id);
    // That a guest was lost counts against the agent already.
    if (!isLost) agent.failed(`the job ${name} failed: ${reason}`);
  }

  /** What the disk does not take is tried again, so that a job that has ended is not run once more for that. */
  async #untilKept(settle: () => Promise<void>): Promise<void> {
    const { agent } = this.#options;
    for (;;) {
      try {
        await settle();
        return;
      } catch (error) {
        agent.trace("error", `a job's end could not be written down yet: ${messageOf(error)}`);
        if (isLaresError(error, "NotFound") || !agent.canDeliver()) return;
        await this.#pause();
      }
    }
  }

  /** A disk that has just failed is not asked again without one. */
  #pause(): Promise<void> {
    const { clock } = this.#options;
    return new Promise((resolve) => void clock.timer(putBackRetryMs, resolve));
  }

  #inHand(id: string | undefined): RunningJob {
    if (this.#running === null || this.#running.job.id !== id)
      throw illegalTransition(
        "no job",
        "This can only be said from within a job, while it runs: the kernel has to know which one is meant.",
      );
    return this.#running;
  }

  #refuseUnknown(name: string): void {
    const names = this.#options.agent.jobNames();
    if (names.has(name)) return;
    const shown = [...names].slice(0, maxNamesShown).map((one) => `"${one}"`);
    const more = names.size - shown.length;
    const has = names.size === 0 ? "none" : `${shown.join(", ")}${more === 0 ? "" : `, and ${more} more`}`;
    throw new LaresError("NotFound", `The program has no job "${name}"; it has ${has}.`, {
      what: "job",
      name,
    });
  }
}
