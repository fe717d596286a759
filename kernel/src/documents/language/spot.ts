import type { Quote } from "./quoting.ts";

/** The word at the cursor, and the text with a mark in its place. Offsets count UTF-16 units. */
export interface Spot {
  /** The range to replace, without quotes, limited to the cursor's line. */
  readonly start: number;
  readonly end: number;
  /** The value or key up to the cursor, from its beginning, which may be on an earlier line. */
  readonly before: string;
  readonly after: string;
  readonly quote: Quote;
  /** True if only indentation and dashes precede it on its line, outside brackets. */
  readonly isAlone: boolean;
  /** True if `:` or `=` follows, so that it is already a key. */
  readonly hasSeparator: boolean;
  /** True if a space has to be inserted: the cursor is directly after `:`, `-` or `=`. */
  readonly needsSpace: boolean;
  /** The kind of quotes that are still open. */
  readonly isUnclosed: boolean;
  readonly isInFlow: boolean;
  /** The start of the cursor's line. */
  readonly lineStart: number;
  readonly marked: string;
}

/** Defaults that apply to most words. */
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
 * Removes the mark, and control codes that parsers reserve, from the text. Offsets do not change. A lone carriage
 * return ends a line, as in editors, in TOML too.
 */
export function withoutMarks(text: string): string {
  return text.replace(/\r(?!\n)/g, "\n").replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ue0c5]/g, " ");
}
