import type { Quote } from "./quoting.ts";

/** The word the cursor is in, and the text with a mark in its place. Offsets count UTF-16 units. */
export interface Spot {
  /** What would be replaced, its quotes left out. Never more than the cursor's line has. */
  readonly start: number;
  readonly end: number;
  /** What the value or key says before the cursor, from its beginning, which may be lines above. */
  readonly before: string;
  readonly after: string;
  readonly quote: Quote;
  /** Nothing but indentation and dashes stands before it on its line, and it is in no brackets. */
  readonly isAlone: boolean;
  /** `:` or `=` follows: it is a key already. */
  readonly hasSeparator: boolean;
  /** A space has to come first: the cursor stands right behind `:`, `-` or `=`. */
  readonly needsSpace: boolean;
  /** Of quotes that were opened and not closed. */
  readonly isUnclosed: boolean;
  readonly isInFlow: boolean;
  /** Where the cursor's line begins. */
  readonly lineStart: number;
  readonly marked: string;
}

/** What holds of most words, for those that make one. */
export const emptySpot = {
  before: "",
  after: "",
  quote: "",
  isAlone: false,
  hasSeparator: false,
  needsSpace: false,
  isUnclosed: false,
  isInFlow: false,
} as const;

/**
 * The same text, every offset kept, without the mark and the control codes that parsers keep for themselves. A carriage
 * return that stands alone ends a line, as editors have it, in TOML too.
 */
export function withoutMarks(text: string): string {
  return text.replace(/\r(?!\n)/g, "\n").replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ue0c5]/g, " ");
}
