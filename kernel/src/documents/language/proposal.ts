import type { Explanation } from "./explanation.ts";

export type ProposalKind =
  | "key"
  | "table"
  | "value"
  | "choice"
  | "event"
  | "field"
  | "function"
  | "method"
  | "keyword"
  | "handler"
  | "extension"
  | "folder"
  | "file";

/** A completion at the cursor. Offsets count UTF-16 units; the range is on the cursor's line. */
export interface Proposal {
  readonly label: string;
  readonly kind: ProposalKind;
  /** A few words beside the label. */
  readonly detail?: string;
  readonly explanation?: Explanation;
  readonly start: number;
  readonly end: number;
  readonly newText: string;
  /** `newText` is an LSP snippet. */
  readonly isSnippet: boolean;
  /** The text that the editor compares with what is typed. */
  readonly filterText: string;
  /** The primary sort key, before the label. */
  readonly rank: number;
}

export interface Proposals {
  readonly items: readonly Proposal[];
  /** True if there are more completions than listed; further typing may reveal them. */
  readonly isIncomplete: boolean;
}

/** Maximum number of completions in one answer. */
export const maxProposals = 200;

/** Returns the closest matches for what was typed, up to {@link maxProposals}. */
export function bounded(items: readonly Proposal[], typed: string): Proposals {
  if (items.length <= maxProposals) return { items, isIncomplete: false };
  const wanted = typed.toLowerCase();
  const fitting = items.filter(({ filterText }) => filterText.toLowerCase().includes(wanted));
  return { items: fitting.slice(0, maxProposals), isIncomplete: fitting.length > maxProposals };
}

/** Escapes text for a snippet. */
export function inSnippet(text: string): string {
  return text.replace(/[\\$}]/g, String.raw`\$&`);
}

/** Returns a choice for a snippet. */
export function choiceOf(values: readonly string[]): string {
  return `\${1|${values.map((value) => value.replace(/[\\,|$}]/g, String.raw`\$&`)).join(",")}|}`;
}
