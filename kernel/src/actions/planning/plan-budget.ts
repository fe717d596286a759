import type { CpuBudget } from "../../base/cpu-budget.ts";
import { limitExceeded } from "../../base/errors.ts";
import { actionLimits } from "../limits.ts";

/**
 * Charges the work on the contents of one plan. Work on what the agent sees is charged to the agent. For what it cannot
 * see, the agent pays a fixed amount per effect, so that neither its remaining budget nor its exhaustion reveals
 * anything about a hidden file; that work uses a separate allowance for the whole plan.
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

  /** Throws LimitExceeded if the agent has no time left. */
  checkAgent(): void {
    const { limit, allowedMs } = this.#agent;
    if (this.#agent.leftMs() > 0) return;
    throw limitExceeded(
      limit,
      allowedMs,
      `No CPU time is left for planning: ${limit} allows ${allowedMs} ms. Propose less at a time.`,
    );
  }

  /**
   * Runs work on what the agent cannot see. Effects are planned one after the other, so nothing else is charged
   * meanwhile.
   */
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
   * False once half of the allowance for hidden contents is used: from then on no diffs are computed for the person, so
   * that the rest lasts for the effects themselves.
   */
  get hasTimeToCompare(): boolean {
    return !this.#isUnseen || this.#unseenLeftMs > actionLimits.unseenPlanCpuMs / 2;
  }

  get isUnseen(): boolean {
    return this.#isUnseen;
  }
}
