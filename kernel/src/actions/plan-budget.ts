import type { CpuBudget } from "../base/cpu-budget.ts";
import { limitExceeded } from "../base/errors.ts";
import { actionLimits } from "./limits.ts";

/**
 * Who pays for the work on the contents of one plan. What the agent sees is worked on at its own expense. For what it
 * cannot see it pays the same for each effect, whatever there is to do: what is left of its budget, and whether
 * that does, tell nothing about a hidden file. That work has an allowance of its own, one for the whole plan.
 */
export class PlanBudget implements CpuBudget {
  readonly #agent: CpuBudget;
  #unseenLeftMs: number = actionLimits.unseenPlanCpuMs;
  #isUnseen = false;

  constructor(agent: CpuBudget) {
    this.#agent = agent;
  }

  get limit(): string {
    return this.#isUnseen ? "unseenPlanCpuMs" : this.#agent.limit;
  }

  get allowedMs(): number {
    return this.#isUnseen ? actionLimits.unseenPlanCpuMs : this.#agent.allowedMs;
  }

  leftMs(): number {
    return this.#isUnseen ? this.#unseenLeftMs : this.#agent.leftMs();
  }

  charge(ms: number): void {
    if (this.#isUnseen) this.#unseenLeftMs -= ms;
    else this.#agent.charge(ms);
  }

  /** Throws LimitExceeded where the agent has no time left. */
  checkAgent(): void {
    const { limit, allowedMs } = this.#agent;
    if (this.#agent.leftMs() > 0) return;
    throw limitExceeded(
      limit,
      allowedMs,
      `No CPU time is left to plan with: ${limit} allows ${allowedMs} ms. Propose less at a time.`,
    );
  }

  /** Does work on what the agent cannot see. Effects are planned one after the other, so nothing else is charged meanwhile. */
  async unseen<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#agent.charge(actionLimits.unseenEffectCpuMs);
    this.#isUnseen = true;
    try {
      return await work();
    } finally {
      this.#isUnseen = false;
    }
  }

  /**
   * False once half of the allowance for what the agent cannot see is used: the person goes without diffs then, so that
   * the rest does for what the effects need.
   */
  get hasTimeToCompare(): boolean {
    return !this.#isUnseen || this.#unseenLeftMs > actionLimits.unseenPlanCpuMs / 2;
  }

  get isUnseen(): boolean {
    return this.#isUnseen;
  }
}
