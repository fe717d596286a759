import type { Finding, Found } from "./detection.ts";

/** Returns the findings sorted; overlapping ones are merged under the rule of the first one. */
export function apart(found: Found[]): readonly Finding[] {
  const kept: Finding[] = [];
  for (const { rule, start, end } of found.toSorted(inOrder)) {
    const last = kept.at(-1);
    if (last === undefined || start >= last.end) kept.push({ rule, start, end });
    else if (end > last.end) kept[kept.length - 1] = { ...last, end };
  }
  return kept;
}

/** Sorts by start; among findings with the same start, the one with the longest keyword comes first. */
export function inOrder(one: Found, other: Found): number {
  return one.start - other.start || other.weight - one.weight;
}
