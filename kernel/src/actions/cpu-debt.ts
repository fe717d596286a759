import type { Clock } from "../base/clock.ts";
import { type CpuBudget, unlimitedCpu } from "../base/cpu-budget.ts";
import { limitExceeded } from "../base/errors.ts";
import type { ActionRecord } from "./action-record.ts";
import { actionLimits } from "./limits.ts";

const { laterCpuMs, laterCpuWindowMs, unseenEffectCpuMs } = actionLimits;

interface Owed {
  readonly ms: number;
  readonly atMs: number;
}

/**
 * Accounts for CPU time spent on an agent's actions while no call of the agent is open to charge it to. The debt drains
 * with time. While an agent owes too much, its actions are compared later and its proposals are refused.
 */
export class CpuDebt {
  readonly #clock: Clock;
  readonly #byAgent = new Map<string, Owed>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  hasTime(agent: string): boolean {
    return this.#owedMs(agent) < laterCpuMs;
  }

  /** Throws LimitExceeded if the agent has no time left. */
  checkTime(agent: string): void {
    if (this.hasTime(agent)) return;
    throw limitExceeded(
      "laterCpuMs",
      laterCpuMs,
      `The kernel used ${laterCpuMs} ms of CPU time for earlier actions of ${agent}, which is the maximum. Propose again in ${Math.ceil(this.msUntilTime(agent) / 1000)} s.`,
    );
  }

  /** Returns the milliseconds until the agent has time again, or 0 if it has time now. */
  msUntilTime(agent: string): number {
    const excessMs = this.#owedMs(agent) - laterCpuMs;
    // One millisecond more, because exactly at the bound the agent still has no time.
    return excessMs < 0 ? 0 : Math.ceil((excessMs * laterCpuWindowMs) / laterCpuMs) + 1;
  }

  /** Returns a budget that charges the agent but never runs out, because work that has begun is finished. */
  of(agent: string): CpuBudget {
    return { ...unlimitedCpu, charge: (ms) => this.#charge(agent, ms) };
  }

  /** Returns the budget for carrying out a person's decision about an action. */
  forDecision(record: ActionRecord): CpuBudget {
    return commitBudget(record, this.of(record.action.agent));
  }

  /** The debt is capped at twice the bound, so that a person's decision does not block the agent for long. */
  #charge(agent: string, ms: number): void {
    const owedMs = Math.min(this.#owedMs(agent) + ms, 2 * laterCpuMs);
    if (owedMs > 0) this.#byAgent.set(agent, { ms: owedMs, atMs: this.#clock.monotonic() });
  }

  #owedMs(agent: string): number {
    const owed = this.#byAgent.get(agent);
    if (owed === undefined) return 0;
    const drainedMs = ((this.#clock.monotonic() - owed.atMs) * laterCpuMs) / laterCpuWindowMs;
    if (drainedMs < owed.ms) return owed.ms - drainedMs;
    this.#byAgent.delete(agent);
    return 0;
  }
}

/**
 * Returns the budget for the commit of an action. Effects that touch something hidden from the agent are charged a
 * fixed amount, as when they were planned: otherwise the remaining budget would reveal the size of a hidden file.
 */
export function commitBudget({ agentView }: ActionRecord, budget: CpuBudget): CpuBudget {
  if (agentView === null) return budget;
  budget.charge(agentView.unseen.length * unseenEffectCpuMs);
  return unlimitedCpu;
}
