import { messageOf } from "../base/errors.ts";
import { compilePattern } from "../base/linear-pattern.ts";

/** Matching steps that one tool's patterns may take; patterns beyond that are not checked and not reported. */
const maxSteps = 20_000;

/** Counts the steps that one tool's patterns may still take. */
export class PatternBudget {
  #steps = maxSteps;

  /** Returns false if fewer steps remain. */
  take(steps: number): boolean {
    if (steps > this.#steps) return false;
    this.#steps -= steps;
    return true;
  }
}

/** Maximum number of cached verdicts: a document is checked at every keystroke. */
const maxKept = 256;

const verdicts = new Map<string, string | null>();

/**
 * Returns why a pattern is not valid for RE2, which checks tool arguments. Returns null if it is valid or too
 * expensive to check.
 */
export function patternFault(pattern: string, budget: PatternBudget): string | null {
  const known = verdicts.get(pattern);
  if (known !== undefined) return known;
  if (!budget.take(stepsAtMost(pattern))) return null;
  const verdict = compileFault(pattern);
  if (verdicts.size >= maxKept) verdicts.delete(verdicts.keys().next().value ?? "");
  verdicts.set(pattern, verdict);
  return verdict;
}

/** Returns the pattern's length times its repetitions: RE2 expands them, and refuses more than a thousand. */
export function stepsAtMost(pattern: string): number {
  if (pattern.length > maxSteps) return pattern.length;
  let repeats = 1;
  for (const [, least = "", most = ""] of pattern.matchAll(/\{(\d{1,4}),?(\d{0,4})\}/g))
    repeats = Math.min(1000, repeats * Math.max(1, Number(least), Number(most)));
  return pattern.length * repeats;
}

function compileFault(pattern: string): string | null {
  try {
    compilePattern(pattern);
    return null;
  } catch (error) {
    return messageOf(error).replace(/^error parsing regexp: /, "");
  }
}
