import type { Clock } from "../../base/clock.ts";
import { isLaresError, LaresError, messageOf } from "../../base/errors.ts";
import type { Foreign } from "../../base/vocabulary/foreign.ts";
import type { LaresEvent } from "../../base/vocabulary/event.ts";
import { causedBy, type Lineage, ownAccord, readLineage } from "../../base/vocabulary/principal.ts";
import type { StoppedWork } from "../stopped-work.ts";
import type { TraceContext, WriteTrace } from "../trace-writer.ts";
import { backoffMs, deliveryAttempts } from "../backoff.ts";
import type { MetricsRecorder } from "../metrics.ts";
import type { Delivery, DeliveryQueue, AgentSession } from "../ports.ts";
import { TokenBucket } from "./token-bucket.ts";
import { DeliveryWindow } from "./window.ts";

/** What the loop needs from its agent. */
export interface Recipient {
  readonly id: string;
  /** True if the agent is loaded or may be woken. */
  canDeliver(): boolean;
  /** The running guest, or null. */
  session(): AgentSession | null;
  /** How many hooks that guest accepts before it has answered the first. */
  maxOpenHooks(): number;
  wake(): void;
  ask(session: AgentSession, method: string, params: unknown): Promise<unknown>;
  /** The guest was ended on purpose, so unfinished work is not a failure. */
  wasEndedOnPurpose(session: AgentSession): boolean;
  /**
   * Returns the event with the agent's current permissions applied; null if it may no longer see it, or its manifest has no
   * hook with this handler any more.
   */
  asHeard(event: LaresEvent, handler: string): LaresEvent | null;
  /** The guest is about to read texts that nobody vouches for. */
  hear(foreign: Foreign): void;
  /** A handler has finished an event, successfully or not. */
  answered(handler: string, event: string): void;
  succeeded(): void;
  failed(reason: string): void;
  /** A run of one of its schedules has ended; `error` is null if it succeeded. */
  ran(schedule: string, error: string | null): void;
  readonly trace: WriteTrace;
  /** Nothing more to deliver now. */
  rest(): void;
}

interface DeliveryLoopOptions {
  readonly queue: DeliveryQueue;
  readonly clock: Clock;
  readonly metrics: MetricsRecorder;
  readonly ratePerSecond: number;
  readonly agent: Recipient;
  readonly stopped: Pick<StoppedWork, "isStopped"> | undefined;
  /** `isTryingAgain` has become false. */
  readonly onTriedAgain?: () => void;
}

/** Delay before a retry after the queue failed to return a delivery or to take one back. */
export const putBackRetryMs = 1000;

/** The hook and event that the guest is handling, and the event's cause. */
interface DeliveryInHand {
  readonly hook?: string;
  readonly traceId?: string;
  readonly lineage?: Lineage;
}

/** A delivery from the time the guest receives it until it is acknowledged, returned or dead-lettered. */
interface Handed {
  readonly delivery: Delivery;
  isAnswered: boolean;
  ended: Promise<void>;
}

/** Delivers an agent's events in order, as far ahead as its window allows and at its permitted rate. */
export class DeliveryLoop {
  readonly #options: DeliveryLoopOptions;
  readonly #throttle: TokenBucket;
  readonly #window = new DeliveryWindow();
  /** By number, oldest first: the first unanswered one is the one that the guest is handling. */
  readonly #handed = new Map<number, Handed>();
  /** When the guest could start to handle it. */
  #begunAt = 0;
  /** The guest that ended last: it receives nothing more, even before the state reflects its end. */
  #lostSession: AgentSession | null = null;
  #isTryingAgain = false;
  #running = false;
  #again = false;

  constructor(options: DeliveryLoopOptions) {
    this.#options = options;
    this.#throttle = new TokenBucket(options.ratePerSecond, options.clock.monotonic());
  }

  set ratePerSecond(rate: number) {
    this.#throttle.ratePerSecond = rate;
  }

  /** Returns the delivery that the guest is handling. */
  get inHand(): DeliveryInHand {
    const handed = this.#workedOn();
    if (handed === undefined) return {};
    const { handler, event } = handed.delivery.payload;
    const lineage = this.#lineageOf(handed.delivery);
    return { hook: handler, traceId: event.id, ...(lineage === ownAccord ? {} : { lineage }) };
  }

  #lineageOf({ payload: { schedule, lineage } }: Delivery): Lineage {
    if (schedule !== undefined)
      return causedBy({ kind: "schedule", agent: this.#options.agent.id, schedule });
    return lineage ?? ownAccord;
  }

  #contextOf(delivery: Delivery): TraceContext {
    const { handler, event } = delivery.payload;
    const { onBehalfOf } = this.#lineageOf(delivery);
    return { hook: handler, traceId: event.id, onBehalfOf };
  }

  get isRunning(): boolean {
    return this.#running;
  }

  /** True if a guest was lost during a delivery that has not been answered or dead-lettered since. */
  get isTryingAgain(): boolean {
    const { agent, queue } = this.#options;
    return this.#isTryingAgain && queue.depth(agent.id) > 0;
  }

  pump(): void {
    const { agent } = this.#options;
    // Remembered, so that work that arrives while the loop is ending is not missed.
    this.#again = true;
    if (this.#running || !agent.canDeliver()) return;
    this.#running = true;
    this.#run()
      .catch((error: unknown) => {
        agent.trace("error", `its events continue in ${putBackRetryMs} ms: ${messageOf(error)}`);
        return this.#pause();
      })
      .finally(() => {
        this.#running = false;
        agent.rest();
      });
  }

  async #run(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      while (await this.#handOver());
      // All open deliveries end before the loop does, so that none is delivered twice.
      for (const { ended } of this.#handed.values()) await ended;
    }
  }

  /** Delivers the next event or waits for a place in the window; false if there is nothing to do now. */
  async #handOver(): Promise<boolean> {
    const { agent, queue, clock } = this.#options;
    if (!agent.canDeliver()) return false;
    const [oldest] = this.#handed.values();
    if (oldest !== undefined && this.#handed.size >= this.#window.size(agent.maxOpenHooks())) {
      await oldest.ended;
      return true;
    }
    const delivery = await queue.next(agent.id, (seq) => this.#handed.has(seq));
    if (delivery === null) {
      // The end of the oldest may make something due: its retry, or what waited behind it.
      await oldest?.ended;
      return oldest !== undefined;
    }
    if (agent.session() === null) {
      agent.wake(); // becoming Active restarts the loop
      return false;
    }
    const delayMs = this.#throttle.take(clock.monotonic());
    if (delayMs > 0) await new Promise<void>((resolve) => void clock.timer(delayMs, resolve));
    const session = agent.session();
    if (session === null || session === this.#lostSession) return false;
    if (this.#handed.size === 0) this.#begunAt = clock.monotonic();
    const handed: Handed = { delivery, isAnswered: false, ended: Promise.resolve() };
    this.#handed.set(delivery.seq, handed);
    handed.ended = this.#deliver(session, handed);
    return true;
  }

  /** Handles one delivery until it is answered or returned. Never rejects. */
  async #deliver(session: AgentSession, handed: Handed): Promise<void> {
    const { agent, clock } = this.#options;
    const { delivery } = handed;
    const { handler, event, foreign, lineage } = delivery.payload;
    let outcome: Outcome;
    try {
      // It was queued with the manifest and permissions of that time and is delivered with the current ones.
      const heard = agent.asHeard(event, handler);
      if (heard === null) {
        handed.isAnswered = true;
        this.#options.queue.acknowledge(agent.id, delivery.seq);
        this.#handed.delete(delivery.seq);
        return;
      }
      // A stored lineage that is not understood must not widen what the handler may do.
      if (lineage !== undefined) readLineage(lineage);
      if (foreign !== undefined) agent.hear(foreign);
      await agent.ask(session, "hook", { handler, event: heard });
      outcome = { isAnswered: true };
    } catch (error) {
      outcome = { isAnswered: false, error };
    }
    const now = clock.monotonic();
    const tookMs = now - this.#begunAt;
    if (this.#workedOn() === handed) this.#begunAt = now;
    handed.isAnswered = true;
    try {
      await this.#settle(session, delivery, outcome, tookMs);
    } catch (error) {
      // A delivery that cannot be stored stays open for a while, so that a full disk is not retried without a
      // pause.
      agent.trace("error", `a delivery could not be put back yet: ${messageOf(error)}`);
      await this.#pause();
    } finally {
      this.#handed.delete(delivery.seq);
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => void this.#options.clock.timer(putBackRetryMs, resolve));
  }

  #workedOn(): Handed | undefined {
    for (const handed of this.#handed.values()) if (!handed.isAnswered) return handed;
    return undefined;
  }

  /** Returns the outcome of a delivery. If the guest was lost, only the oldest open delivery had started. */
  async #settle(session: AgentSession, delivery: Delivery, outcome: Outcome, tookMs: number): Promise<void> {
    const { agent, queue, clock, metrics } = this.#options;
    const { handler, event, runOf } = delivery.payload;
    if (outcome.isAnswered) {
      this.#window.handled(tookMs);
      metrics.answered("processed", tookMs);
      agent.answered(handler, event.name);
      queue.acknowledge(agent.id, delivery.seq);
      agent.succeeded();
      if (runOf !== undefined) agent.ran(runOf, null);
      this.#hasTriedAgain();
      return;
    }
    const { error } = outcome;
    const message = messageOf(error);
    if (isLaresError(error, "AgentError")) {
      // All open deliveries are lost with the guest; only the oldest had started.
      const isOldest = this.#lostSession !== session;
      this.#lostSession = session;
      this.#window.lost();
      if (isOldest && !agent.wasEndedOnPurpose(session)) await this.#lost(delivery, message, tookMs);
      return;
    }
    this.#window.handled(tookMs);
    if (isTransient(error) && delivery.attempts + 1 < deliveryAttempts) {
      await queue.retryLater(agent.id, delivery.seq, clock.now() + backoffMs(delivery.attempts + 1));
      return;
    }
    // An error from the handler is an answer; a retry would produce the same one.
    metrics.answered("failed", tookMs);
    agent.answered(handler, event.name);
    queue.acknowledge(agent.id, delivery.seq);
    agent.trace(
      "error",
      `${handler} failed: ${message}`,
      { event: event.name, ...stackOf(error) },
      this.#contextOf(delivery),
    );
    // A person stopped the work behind this event, so the kernel refused its requests: the agent is not to blame.
    if (this.#options.stopped?.isStopped(this.#lineageOf(delivery)) === true) return this.#hasTriedAgain();
    // Only the schedule is suspended, because the agent's other handlers may work.
    if (runOf === undefined) agent.failed(`${handler} failed on ${event.name}: ${message}`);
    else agent.ran(runOf, message);
    this.#hasTriedAgain();
  }

  /** Handles the end of the guest during a delivery: retries a few times, then dead-letters it. */
  async #lost(delivery: Delivery, message: string, latencyMs: number): Promise<void> {
    const { agent, queue, clock, metrics } = this.#options;
    const { handler, event, runOf } = delivery.payload;
    const attempt = delivery.attempts + 1;
    const givenUp = attempt >= deliveryAttempts;
    const next = givenUp ? "given up" : "tried again";
    agent.trace(
      "error",
      `${handler} did not finish, ${next}: ${message}`,
      { event: event.name, attempt },
      this.#contextOf(delivery),
    );
    if (!givenUp) {
      this.#isTryingAgain = true;
      return queue.retryLater(agent.id, delivery.seq, clock.now() + backoffMs(attempt));
    }
    metrics.answered("failed", latencyMs);
    agent.answered(handler, event.name);
    await queue.deadLetter(agent.id, delivery.seq, message);
    if (runOf !== undefined) agent.ran(runOf, message);
    this.#hasTriedAgain();
  }

  #hasTriedAgain(): void {
    if (!this.#isTryingAgain) return;
    this.#isTryingAgain = false;
    this.#options.onTriedAgain?.();
  }
}

type Outcome = { readonly isAnswered: true } | { readonly isAnswered: false; readonly error: unknown };

/** A fault of the machine, not of the program, is worth a retry. A journal that fails verification does not change. */
export function isTransient(error: unknown): boolean {
  if (isLaresError(error, "StorageError")) return error.facts["firstBad"] === undefined;
  return isLaresError(error, "Busy");
}

/** Returns the guest's own stack, and the line that the kernel found for it, if the error has them. */
export function stackOf(error: unknown): Record<string, unknown> {
  const { stack, place }: Readonly<Record<string, unknown>> = error instanceof LaresError ? error.facts : {};
  return { ...(place === undefined ? {} : { place }), ...(typeof stack === "string" ? { stack } : {}) };
}
