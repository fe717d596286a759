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

/** How long an end that nobody asked for is held against an agent. */
export const endsCountMs = 60_000;

/** What one agent's failures and ends lead to: a pause before the next start, or being suspended for a while. */
export class FailurePolicy {
  readonly #clock: Clock;
  #breaker: Breaker = closedBreaker;
  /** Ends in a row, with nothing handled in between. */
  #crashes = 0;
  /** When its guest ended on its own lately: events that it handled in between do not make up for that. */
  #ends: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Until it is tried again; counts while it is suspended. */
  get pauseMs(): number {
    return pauseMs(this.#breaker);
  }

  succeeded(): void {
    if (this.#breaker.state !== "half-open" || this.#recentEnds() === 0)
      this.#breaker = succeeded(this.#breaker);
    this.#crashes = 0;
  }

  /** A handler failed, or a start; a sentence where it is to be suspended for that. */
  failed(reason: string): string | null {
    this.#breaker = failed(this.#breaker);
    if (this.#breaker.state !== "open") return null;
    const count = this.#breaker.consecutiveFailures;
    return `Suspended after ${count} failure${count === 1 ? "" : "s"} in a row; the last: ${reason}`;
  }

  /** Its guest ended on its own. `isSandboxFault`: the sandbox went away beneath it. */
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

  /** The pause is over: true where one more delivery may be tried. */
  triesAgain(): boolean {
    if (this.#breaker.state !== "open") return false;
    this.#breaker = halfOpen(this.#breaker);
    return true;
  }

  /** A person, or another program, begins anew. */
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
