import { messageOf } from "../base/errors.ts";
import { compilePattern } from "../base/linear-pattern.ts";

/** Steps of matching that the patterns of one tool may stand for to be looked at: what is not looked at is no fault. */
const maxSteps = 20_000;

/** What is left of that. */
export class PatternBudget {
  #steps = maxSteps;

  /** False where there is not as much. */
  take(steps: number): boolean {
    if (steps > this.#steps) return false;
    this.#steps -= steps;
    return true;
  }
}

/** Patterns whose verdicts are kept: a document is checked at every keystroke. */
const maxKept = 256;

const verdicts = new Map<string, string | null>();

/** Why a pattern is none of RE2's, in which tools' arguments are checked; null where it is one, or that costs too much to tell. */
export function patternFault(pattern: string, budget: PatternBudget): string | null {
  const known = verdicts.get(pattern);
  if (known !== undefined) return known;
  if (!budget.take(stepsAtMost(pattern))) return null;
  const verdict = compileFault(pattern);
  if (verdicts.size >= maxKept) verdicts.delete(verdicts.keys().next().value ?? "");
  verdicts.set(pattern, verdict);
  return verdict;
}

/** RE2 writes what is repeated down as often, and refuses more than a thousand times. */
function stepsAtMost(pattern: string): number {
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
