import { invalidParams } from "../../base/errors.ts";
import type { ActionRecord } from "../action-record.ts";

/**
 * Returns the indices of the effects to apply, in order. InvalidParams for a bad index, or for an effect that depends
 * on a dropped one.
 */
export function chosenEffects(record: ActionRecord, wanted: readonly number[] | undefined): number[] {
  const count = record.operations.length;
  if (wanted === undefined) return Array.from({ length: count }, (_value, index) => index);
  const chosen = [...new Set(wanted)].toSorted((one, other) => one - other);
  if (chosen.length === 0) throw invalidParams("No effect is chosen. Reject the action instead.");
  for (const index of chosen) {
    if (!Number.isInteger(index) || index < 0 || index >= count) {
      throw invalidParams(`There is no effect ${index}. The action has ${count}, counted from 0.`, {
        effect: index,
      });
    }
    const missing = (record.dependsOn[index] ?? []).find((other) => !chosen.includes(other));
    if (missing !== undefined) {
      throw invalidParams(`Effect ${index} builds on effect ${missing}. Choose both, or neither.`, {
        effect: index,
      });
    }
  }
  return chosen;
}
