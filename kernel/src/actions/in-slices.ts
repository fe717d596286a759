import type { CpuBudget } from "../base/cpu-budget.ts";
import { limitExceeded } from "../base/errors.ts";
import type { Slices } from "../base/slices.ts";

/**
 * Runs the steps in slices of the kernel's event loop, charges their time and resolves with their result. Rejects with
 * LimitExceeded when the budget is used up.
 */
export async function inSlices<Result>(
  steps: Iterator<void, Result>,
  slices: Slices,
  budget: CpuBudget,
): Promise<Result> {
  await slices.begin();
  for (;;) {
    const before = slices.nowMs;
    const step = steps.next();
    budget.charge(slices.nowMs - before);
    if (step.done === true) return step.value;
    if (budget.leftMs() <= 0) {
      const { limit, allowedMs } = budget;
      throw limitExceeded(
        limit,
        allowedMs,
        `Matching this proposal with the person's rules takes more CPU time than is left. ${limit} allows ${allowedMs} ms. Move smaller folders.`,
      );
    }
    if (!slices.hasTime) await slices.next();
  }
}
