import { visibleAtoms } from "../visible-text.ts";
import type { Ask } from "./ask.ts";

/**
 * Returns the arguments of the call that a question is about: as much as has room in `most` characters once each one is made
 * visible, and the number of characters that are left out, here or by the kernel. Null if it is not about a call.
 */
export function shownArguments(
  { facts }: Pick<Ask, "facts">,
  most: number,
): { readonly text: string; readonly left: number } | null {
  const { arguments: given, arguments_left_out: leftOut } = facts;
  if (given === undefined) return null;
  const all = typeof given === "string" ? given : JSON.stringify(given);
  let drawn = 0;
  let text = "";
  // One mark may stand for many characters, but reading more of them for that is not worth it.
  for (const { shown, source } of visibleAtoms(startOf(all, most))) {
    drawn += shown.length;
    if (drawn > most) break;
    text += source;
  }
  return { text, left: all.length - text.length + (typeof leftOut === "number" ? leftOut : 0) };
}

/** "1,117 more characters are not shown." */
export function leftOutWords(left: number): string {
  return left === 1
    ? "1 more character is not shown."
    : `${left.toLocaleString("en")} more characters are not shown.`;
}

/** Returns the first characters of a text; one that consists of two code units is not cut in between. */
export function startOf(text: string, most: number): string {
  if (text.length <= most) return text;
  const start = text.slice(0, most);
  return start.isWellFormed() ? start : start.replace(/[\ud800-\udbff]$/, "");
}
