import type { Style } from "../style.ts";

/** With fewer columns, list and card take turns. */
export const columnsForBoth = 80;

/** How a full screen is drawn. */
export interface Look {
  readonly style: Style;
  /** Only ASCII is drawn: any other character of a foreign text is shown by its code. */
  readonly isAscii: boolean;
}

/** Signs of ours, each with one that stands for it in as many columns. */
const asciiSigns: Readonly<Record<string, string>> = {
  "─": "-",
  "│": "|",
  "┌": "+",
  "┐": "+",
  "└": "+",
  "┘": "+",
  "├": "+",
  "┤": "+",
  "┬": "+",
  "┴": "+",
  "╭": "+",
  "╰": "+",
  "▌": ">",
  "┆": ":",
  "⋮": ":",
  "·": "-",
  "→": ">",
  "✗": "x",
  "✓": "*",
  "−": "-",
  "×": "x",
  "…": "~",
  "↩": "\\",
  "␠": "_",
  "↓": "v",
  "↑": "^",
};

/** A line in which only our own signs are not ASCII, without them. */
export function inAscii(line: string): string {
  return line.replace(/[^\x00-\x7f]/gu, (sign) => asciiSigns[sign] ?? "?"); // oxlint-disable-line no-control-regex -- colours stay
}

export function lookOf(style: Style, isAscii: boolean): Look {
  return { style, isAscii };
}

/** True where the environment names a character encoding that is not UTF-8. */
export function wantsAscii(
  { LC_ALL, LC_CTYPE, LANG }: Readonly<Record<string, string | undefined>>,
  platform: string,
): boolean {
  if (platform === "win32" || platform === "darwin") return false;
  const locale = LC_ALL || LC_CTYPE || LANG || "";
  // Where nothing is said of it, most terminals of today draw UTF-8.
  return locale !== "" && !/utf-?8/i.test(locale);
}
