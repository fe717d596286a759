import type { Clock } from "../../base/clock.ts";

const hourMs = 3_600_000;

/** Sums, per agent, the impact that policy allowed within the last hour, because many small changes add up. */
export class ImpactHours {
  readonly #clock: Clock;
  readonly #byAgent = new Map<string, { readonly at: number; readonly impact: number }[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The time from which allowances still count. */
  get since(): number {
    return this.#clock.now() - hourMs;
  }

  sum(agent: string): number {
    const recent = (this.#byAgent.get(agent) ?? []).filter(({ at }) => at > this.since);
    if (recent.length === 0) this.#byAgent.delete(agent);
    else this.#byAgent.set(agent, recent);
    return recent.reduce((sum, { impact }) => sum + impact, 0);
  }

  add(agent: string, impact: number, at = this.#clock.now()): void {
    const allowed = this.#byAgent.get(agent);
    if (allowed === undefined) this.#byAgent.set(agent, [{ at, impact }]);
    else allowed.push({ at, impact });
  }
}
