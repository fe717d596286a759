import type { Clock } from "../../base/clock.ts";
import { isLaresError, LaresError, messageOf } from "../../base/errors.ts";
import type { LaresEvent } from "../../base/vocabulary/event.ts";
import { type Actor, causedBy } from "../../base/vocabulary/principal.ts";
import type { TraceContext, WriteTrace } from "../trace-writer.ts";
import { backoffMs, deliveryAttempts } from "../backoff.ts";
import type { MetricsRecorder } from "../metrics.ts";
import type { Delivery, DeliveryQueue, AgentSession } from "../ports.ts";
import { TokenBucket } from "./token-bucket.ts";
import { DeliveryWindow } from "./window.ts";

/** What the loop needs of the agent it delivers to. */
export interface Recipient {
  readonly id: string;
  /** Loaded, or may be woken. */
  canDeliver(): boolean;
  /** The running guest; null where there is none yet. */
  session(): AgentSession | null;
  /** How many hooks that guest takes before it answered the first. */
  maxOpenHooks(): number;
  wake(): void;
  ask(session: AgentSession, method: string, params: unknown): Promise<unknown>;
  /** The guest was ended on purpose: what it left undone is no failure. */
  wasEndedOnPurpose(session: AgentSession): boolean;
  /** The event as the agent may hear it now; null where it no longer may. */
  asHeard(event: LaresEvent): LaresEvent | null;
  /** A handler is done with an event, in whatever way. */
  answered(handler: string, event: string): void;
  succeeded(): void;
  failed(reason: string): void;
  readonly trace: WriteTrace;
  /** Nothing more to hand over now. */
  rest(): void;
}

interface DeliveryLoopOptions {
  readonly queue: DeliveryQueue;
  readonly clock: Clock;
  readonly metrics: MetricsRecorder;
  readonly ratePerSecond: number;
  readonly agent: Recipient;
  /** `isTryingAgain` is over. */
  readonly onTriedAgain?: () => void;
}

/** After the queue gave none, or refused to take one back, it is asked again so much later. */
export const putBackRetryMs = 1000;

/** Which hook the guest is in, for which event, and what caused that. */
interface DeliveryInHand {
  readonly hook?: string;
  readonly traceId?: string;
  readonly cause?: Actor;
}

/** A delivery from the moment the guest was handed it until it is acknowledged, put back or set aside. */
interface Handed {
  readonly delivery: Delivery;
  isAnswered: boolean;
  ended: Promise<void>;
}

/** Hands an agent its deliveries, in order, as far ahead as its window allows, at the rate it may have. */
export class DeliveryLoop {
  readonly #options: DeliveryLoopOptions;
  readonly #throttle: TokenBucket;
  readonly #window = new DeliveryWindow();
  /** By number, the oldest first: the first that is not answered is the one the guest is working on. */
  readonly #handed = new Map<number, Handed>();
  /** When the guest could begin with that one. */
  #begunAt = 0;
  /** The guest that ended last: it gets nothing more, also before its end has become a state. */
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

  /** The delivery the guest is working on. */
  get inHand(): DeliveryInHand {
    const handed = this.#workedOn();
    if (handed === undefined) return {};
    const { handler, event } = handed.delivery.payload;
    const cause = this.#causeOf(handed.delivery);
    return { hook: handler, traceId: event.id, ...(cause === undefined ? {} : { cause }) };
  }

  #causeOf({ payload: { schedule } }: Delivery): Actor | undefined {
    return schedule === undefined ? undefined : { kind: "schedule", agent: this.#options.agent.id, schedule };
  }

  #contextOf(delivery: Delivery): TraceContext {
    const { handler, event } = delivery.payload;
    const { onBehalfOf } = causedBy(this.#causeOf(delivery));
    return { hook: handler, traceId: event.id, onBehalfOf };
  }

  get isRunning(): boolean {
    return this.#running;
  }

  /** A guest was lost with a delivery in hand, and that has neither been answered nor set aside since. */
  get isTryingAgain(): boolean {
    const { agent, queue } = this.#options;
    return this.#isTryingAgain && queue.depth(agent.id) > 0;
  }

  pump(): void {
    const { agent } = this.#options;
    // Remembered, so that what arrives while the loop is about to end is not left lying.
    this.#again = true;
    if (this.#running || !agent.canDeliver()) return;
    this.#running = true;
    this.#run()
      .catch((error: unknown) => {
        agent.trace("error", `its events go on in ${putBackRetryMs} ms: ${messageOf(error)}`);
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
      // What is in hand ends before the loop does: nothing is handed over twice.
      for (const { ended } of this.#handed.values()) await ended;
    }
  }

  /** Hands over the next delivery, or waits for a place in the window; false where there is nothing to do now. */
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
      // With the oldest's end something may be due: its next try, or what it held back.
      await oldest?.ended;
      return oldest !== undefined;
    }
    if (agent.session() === null) {
      agent.wake(); // becoming Active starts the loop anew
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

  /** One delivery, until it was answered or put back. Never rejects. */
  async #deliver(session: AgentSession, handed: Handed): Promise<void> {
    const { agent, clock } = this.#options;
    const { delivery } = handed;
    const { handler, event } = delivery.payload;
    let outcome: Outcome;
    try {
      // It was queued under the authority of then; it is handed over under the authority of now.
      const heard = agent.asHeard(event);
      if (heard === null) {
        handed.isAnswered = true;
        this.#options.queue.acknowledge(agent.id, delivery.seq);
        this.#handed.delete(delivery.seq);
        return;
      }
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
      // What the disk does not take stays in hand for a while, so that a full one is not asked without a pause.
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

  /** What becomes of a delivery. Of those in hand when the guest is lost, only the oldest had begun. */
  async #settle(session: AgentSession, delivery: Delivery, outcome: Outcome, tookMs: number): Promise<void> {
    const { agent, queue, clock, metrics } = this.#options;
    const { handler, event } = delivery.payload;
    if (outcome.isAnswered) {
      this.#window.handled(tookMs);
      metrics.answered("processed", tookMs);
      agent.answered(handler, event.name);
      queue.acknowledge(agent.id, delivery.seq);
      agent.succeeded();
      this.#hasTriedAgain();
      return;
    }
    const { error } = outcome;
    const message = messageOf(error);
    if (isLaresError(error, "AgentError")) {
      // All that was in hand is lost with it, the oldest first: that is the one that had begun.
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
    // The handler answered, with an error: that is an answer, and asking again would bring the same one.
    metrics.answered("failed", tookMs);
    agent.answered(handler, event.name);
    queue.acknowledge(agent.id, delivery.seq);
    agent.trace(
      "error",
      `${handler} failed: ${message}`,
      { event: event.name, ...stackOf(error) },
      this.#contextOf(delivery),
    );
    agent.failed(`${handler} failed on ${event.name}: ${message}`);
    this.#hasTriedAgain();
  }

  /** The guest ended under a delivery: it is tried again, a few times, then set aside. */
  async #lost(delivery: Delivery, message: string, latencyMs: number): Promise<void> {
    const { agent, queue, clock, metrics } = this.#options;
    const { handler, event } = delivery.payload;
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
    this.#hasTriedAgain();
  }

  #hasTriedAgain(): void {
    if (!this.#isTryingAgain) return;
    this.#isTryingAgain = false;
    this.#options.onTriedAgain?.();
  }
}

type Outcome = { readonly isAnswered: true } | { readonly isAnswered: false; readonly error: unknown };

/** Trouble of the machine, not of the program: worth another try. A journal that fails verification stays as it is. */
export function isTransient(error: unknown): boolean {
  if (isLaresError(error, "StorageError")) return error.facts["firstBad"] === undefined;
  return isLaresError(error, "Busy");
}

/** The guest's own stack, where the error came from one. */
export function stackOf(error: unknown): Record<string, unknown> {
  const stack = error instanceof LaresError ? error.facts["stack"] : undefined;
  return typeof stack === "string" ? { stack } : {};
}
