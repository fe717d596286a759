import type { Clock } from "../base/clock.ts";
import { isLaresError, LaresError, messageOf } from "../base/errors.ts";
import type { TraceLevel } from "../base/vocabulary/trace.ts";
import { backoffMs, deliveryAttempts } from "./backoff.ts";
import type { MetricsRecorder } from "./metrics.ts";
import type { Delivery, DeliveryQueue, GuestSession } from "./ports.ts";
import { Throttle } from "./throttle.ts";

/** What the loop needs of the agent it delivers to. */
export interface Recipient {
  readonly id: string;
  /** Loaded, or may be woken. */
  canDeliver(): boolean;
  /** The running guest; null where there is none yet. */
  session(): GuestSession | null;
  wake(): void;
  ask(session: GuestSession, method: string, params: unknown): Promise<unknown>;
  /** The guest was ended on purpose: what it left undone is no failure. */
  wasEndedOnPurpose(session: GuestSession): boolean;
  succeeded(): void;
  failed(reason: string): void;
  trace(
    level: TraceLevel,
    message: string,
    fields?: Record<string, unknown>,
    hook?: string,
    traceId?: string,
  ): void;
  /** Nothing more to hand over now. */
  rest(): void;
}

export interface DeliveryLoopOptions {
  readonly queue: DeliveryQueue;
  readonly clock: Clock;
  readonly metrics: MetricsRecorder;
  readonly ratePerSecond: number;
  readonly agent: Recipient;
}

/** Which hook the guest is in, and for which event. */
export interface DeliveryInHand {
  readonly hook?: string;
  readonly traceId?: string;
}

/** Hands an agent its deliveries, one at a time and in order, at the rate it may have. */
export class DeliveryLoop {
  readonly #options: DeliveryLoopOptions;
  readonly #throttle: Throttle;
  #running = false;
  #again = false;
  #inHand: DeliveryInHand = {};

  constructor(options: DeliveryLoopOptions) {
    this.#options = options;
    this.#throttle = new Throttle(options.ratePerSecond, options.clock.monotonic());
  }

  set ratePerSecond(rate: number) {
    this.#throttle.ratePerSecond = rate;
  }

  /** The delivery the guest is working on. */
  get inHand(): DeliveryInHand {
    return this.#inHand;
  }

  get isRunning(): boolean {
    return this.#running;
  }

  pump(): void {
    const { agent } = this.#options;
    // Remembered, so that what arrives while the loop is about to end is not left lying.
    this.#again = true;
    if (this.#running || !agent.canDeliver()) return;
    this.#running = true;
    this.#run()
      .catch((error: unknown) => agent.trace("error", `delivery stopped: ${messageOf(error)}`))
      .finally(() => {
        this.#running = false;
        agent.rest();
      });
  }

  async #run(): Promise<void> {
    const { agent, queue, clock } = this.#options;
    while (this.#again) {
      this.#again = false;
      for (;;) {
        if (!agent.canDeliver()) return;
        const delivery = await queue.next(agent.id);
        if (delivery === null) break;
        if (agent.session() === null) {
          agent.wake(); // becoming Active starts the loop anew
          return;
        }
        const delayMs = this.#throttle.take(clock.monotonic());
        if (delayMs > 0) await new Promise<void>((resolve) => void clock.timer(delayMs, resolve));
        const session = agent.session();
        if (session === null) return;
        if (!(await this.#deliver(session, delivery))) return;
      }
    }
  }

  /** One delivery to the guest; false where the guest did not survive it. */
  async #deliver(session: GuestSession, delivery: Delivery): Promise<boolean> {
    const { agent, queue, clock, metrics } = this.#options;
    const { handler, event } = delivery.payload;
    const startedAt = clock.monotonic();
    this.#inHand = { hook: handler, traceId: event.id };
    try {
      await agent.ask(session, "hook", { handler, event });
    } catch (error) {
      const latencyMs = clock.monotonic() - startedAt;
      const message = messageOf(error);
      if (isLaresError(error, "AgentError")) {
        if (!agent.wasEndedOnPurpose(session)) await this.#lost(delivery, message, latencyMs);
        return false;
      }
      if (isTransient(error) && delivery.attempts + 1 < deliveryAttempts) {
        await queue.retryLater(agent.id, delivery.seq, clock.now() + backoffMs(delivery.attempts + 1));
        return true;
      }
      // The handler answered, with an error: that is an answer, and asking again would bring the same one.
      metrics.answered("failed", latencyMs);
      queue.acknowledge(agent.id, delivery.seq);
      agent.trace(
        "error",
        `${handler} failed: ${message}`,
        { event: event.name, ...stackOf(error) },
        handler,
        event.id,
      );
      agent.failed(`${handler} failed on ${event.name}: ${message}`);
      return true;
    } finally {
      this.#inHand = {};
    }
    metrics.answered("processed", clock.monotonic() - startedAt);
    queue.acknowledge(agent.id, delivery.seq);
    agent.succeeded();
    return true;
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
      handler,
      event.id,
    );
    if (!givenUp) return queue.retryLater(agent.id, delivery.seq, clock.now() + backoffMs(attempt));
    metrics.answered("failed", latencyMs);
    await queue.bury(agent.id, delivery.seq, message);
  }
}

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
