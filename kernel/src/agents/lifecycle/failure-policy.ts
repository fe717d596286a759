import type { Clock } from "../../base/clock.ts";
import { backoffMs } from "../backoff.ts";
import {
  type Breaker,
  closedBreaker,
  failed,
  failuresToOpen,
  halfOpen,
  opened,
  pauseMs,
  succeeded,
} from "./breaker.ts";

/** How long an unexpected end counts against an agent. */
export const endsCountMs = 60_000;

/** The consequences of one agent's failures and ends: a pause before the next start, or a temporary suspension. */
export class FailurePolicy {
  readonly #clock: Clock;
  #breaker: Breaker = closedBreaker;
  /** Consecutive ends without a handled event in between. */
  #crashes = 0;
  /** Recent times at which its guest ended unexpectedly; events handled in between do not reset them. */
  #ends: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Time of the next try while it is suspended. */
  get pauseMs(): number {
    return pauseMs(this.#breaker);
  }

  succeeded(): void {
    if (this.#breaker.state !== "half-open" || this.#recentEnds() === 0)
      this.#breaker = succeeded(this.#breaker);
    this.#crashes = 0;
  }

  /** Records a failed handler or start. Returns the reason for suspension, or null. */
  failed(reason: string): string | null {
    this.#breaker = failed(this.#breaker);
    if (this.#breaker.state !== "open") return null;
    const count = this.#breaker.consecutiveFailures;
    return `Suspended after ${count} failure${count === 1 ? "" : "s"} in a row; the last: ${reason}`;
  }

  /** Records an unexpected end of its guest. `isSandboxFault`: the sandbox ended. */
  ended(
    reason: string,
    isSandboxFault: boolean,
  ): { readonly restartAfterMs: number; readonly suspension: string | null } {
    this.#crashes += 1;
    const restartAfterMs = backoffMs(this.#crashes);
    if (!isSandboxFault) this.#ends.push(this.#clock.monotonic());
    let suspension = this.failed(reason);
    const recent = this.#recentEnds();
    if (suspension === null && recent >= failuresToOpen) {
      this.#breaker = opened(this.#breaker);
      suspension = `Suspended after its program ended ${recent} times within a minute; the last time: ${reason}`;
    }
    return { restartAfterMs, suspension };
  }

  /** The pause is over. Returns true if one delivery may be tried. */
  triesAgain(): boolean {
    if (this.#breaker.state !== "open") return false;
    this.#breaker = halfOpen(this.#breaker);
    return true;
  }

  /** Resets the state for a user's command or a new program. */
  isForgiven(): void {
    this.#breaker = closedBreaker;
    this.#ends = [];
    this.#crashes = 0;
  }

  #recentEnds(): number {
    const since = this.#clock.monotonic() - endsCountMs;
    this.#ends = this.#ends.filter((time) => time > since);
    return this.#ends.length;
  }
}
