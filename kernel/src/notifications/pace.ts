import type { Clock } from "../base/clock.ts";
import { notificationBounds } from "./bounds.ts";

/** A number of tokens that refills with time. */
class Bucket {
  readonly #size: number;
  readonly #everyMs: number;
  #tokens: number;
  #filledAt: number;

  constructor(size: number, everyMs: number, nowMs: number) {
    this.#size = size;
    this.#everyMs = everyMs;
    this.#tokens = size;
    this.#filledAt = nowMs;
  }

  has(nowMs: number): boolean {
    this.#tokens = Math.min(this.#size, this.#tokens + Math.max(0, nowMs - this.#filledAt) / this.#everyMs);
    this.#filledAt = nowMs;
    return this.#tokens >= 1;
  }

  take(): void {
    this.#tokens -= 1;
  }

  get isFull(): boolean {
    return this.#tokens >= this.#size;
  }
}

/** Agents whose pace is remembered before those that have rested are forgotten. */
const maxRemembered = 256;

/** Decides which notifications a person gets at once: at most a few in a row of each agent, and of all together. */
export class NotificationPace {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #together: Bucket;
  readonly #byAgent = new Map<string, Bucket>();

  constructor(clock: Pick<Clock, "monotonic">) {
    const { togetherBurst, togetherEveryMs } = notificationBounds;
    this.#clock = clock;
    this.#together = new Bucket(togetherBurst, togetherEveryMs, clock.monotonic());
  }

  /** Returns false if the agent, or all agents together, have sent too many. */
  admits(agent: string): boolean {
    const now = this.#clock.monotonic();
    const own = this.#of(agent, now);
    if (!own.has(now) || !this.#together.has(now)) return false;
    own.take();
    this.#together.take();
    return true;
  }

  #of(agent: string, now: number): Bucket {
    const known = this.#byAgent.get(agent);
    if (known !== undefined) return known;
    if (this.#byAgent.size >= maxRemembered)
      for (const [id, bucket] of this.#byAgent)
        if (bucket.has(now) && bucket.isFull) this.#byAgent.delete(id);
    const bucket = new Bucket(notificationBounds.agentBurst, notificationBounds.agentEveryMs, now);
    this.#byAgent.set(agent, bucket);
    return bucket;
  }
}
