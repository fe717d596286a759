import type { CompletionProposal } from "../../base/vocabulary/editing.ts";

/** Something that may be written at the cursor. Offsets count UTF-16 units; the range is on the cursor's line. */
export interface Proposal extends Omit<CompletionProposal, "range"> {
  readonly start: number;
  readonly end: number;
  /** Sorted by this, then by the label. */
  readonly rank: number;
}

export interface Proposals {
  readonly items: readonly Proposal[];
  /** There are more than are listed; typing on may bring others. */
  readonly isIncomplete: boolean;
}

/** More are not listed at once. */
export const maxProposals = 200;

/** The nearest to what was typed, up to {@link maxProposals}. */
export function bounded(items: readonly Proposal[], typed: string): Proposals {
  if (items.length <= maxProposals) return { items, isIncomplete: false };
  const wanted = typed.toLowerCase();
  const fitting = items.filter(({ filterText }) => filterText.toLowerCase().includes(wanted));
  return { items: fitting.slice(0, maxProposals), isIncomplete: fitting.length > maxProposals };
}

/** Text as it stands in a snippet. */
export function inSnippet(text: string): string {
  return text.replace(/[\\$}]/g, String.raw`\$&`);
}

/** One of several, to be chosen within a snippet. */
export function choiceOf(values: readonly string[]): string {
  return `\${1|${values.map((value) => value.replace(/[\\,|$}]/g, String.raw`\$&`)).join(",")}|}`;
}
