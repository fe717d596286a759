import type { Clock } from "../base/clock.ts";
import { waitUnlessAborted } from "../base/wait.ts";

/** Requests of one agent a second in the long run, and at once. Each leaves a trace, of which only so many are kept. */
const perSecond = 100;
const atOnce = 200;

/** Above so many known agents, those that sent nothing lately are forgotten. */
const maxKnown = 256;

/** Spreads each agent's requests over time, so that none floods a server, or the traces of what others sent. */
export class RequestPace {
  readonly #clock: Clock;
  /** When each agent's requests would have been sent if none was sent at once. */
  readonly #due = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when the agent may send its next request, or when the signal is aborted. */
  async turn(agent: string, signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    const due = Math.max(this.#due.get(agent) ?? 0, now) + 1000 / perSecond;
    if (this.#due.size > maxKnown)
      for (const [known, dueOfKnown] of this.#due) if (dueOfKnown < now) this.#due.delete(known);
    this.#due.set(agent, due);
    const waitMs = due - now - (1000 / perSecond) * atOnce;
    if (waitMs > 0) await waitUnlessAborted(this.#clock, waitMs, signal);
  }
}
