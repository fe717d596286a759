import type { CpuBudget } from "../base/cpu-budget.ts";
import { limitExceeded } from "../base/errors.ts";
import type { Slices } from "../base/slices.ts";

/**
 * Takes the steps in slices of the kernel's loop, and charges their time. Rejects with LimitExceeded where the budget does
 * not do.
 */
export async function inSlices(steps: Iterator<void>, slices: Slices, budget: CpuBudget): Promise<void> {
  await slices.begin();
  for (;;) {
    const before = slices.nowMs;
    const { done } = steps.next();
    budget.charge(slices.nowMs - before);
    if (done === true) return;
    if (budget.leftMs() <= 0) {
      const { limit, allowedMs } = budget;
      throw limitExceeded(
        limit,
        allowedMs,
        `To hold this proposal against the person's rules takes more CPU time than is left; ${limit} allows ${allowedMs} ms. Move smaller folders.`,
      );
    }
    if (!slices.hasTime) await slices.next();
  }
}
