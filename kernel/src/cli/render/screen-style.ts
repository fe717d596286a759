import type { Style } from "./style.ts";

/** With fewer columns, only the list or the card is shown. */
export const columnsForBoth = 80;

/** How a full screen is drawn. */
export interface ScreenStyle {
  readonly style: Style;
  /** Draw only ASCII: any other character of a foreign text is shown by its code. */
  readonly isAscii: boolean;
}

/** The signs of Lares, each with a replacement of the same width. */
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
  "•": "*",
  "›": ">",
  "▸": ">",
  "▾": "v",
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
  "–": "-",
  "—": "-",
  "’": "'",
  "“": '"',
  "”": '"',
  "⏎": "\\",
};

/** Replaces the signs of Lares in a line; the rest of the line must be ASCII already. */
export function inAscii(line: string): string {
  return line.replace(/[^\x00-\x7f]/gu, (sign) => asciiSigns[sign] ?? "?"); // oxlint-disable-line no-control-regex -- colours stay
}

/** As `inAscii`, for text that may have any other characters: these are shown by their codes, as `<U+00E9>`. */
export function onlyAscii(text: string): string {
  // oxlint-disable-next-line no-control-regex -- the bounds of ASCII
  return text.replace(
    /[^\x00-\x7f]/gu,
    (sign) =>
      asciiSigns[sign] ?? `<U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`,
  );
}

/** True if the environment names a character encoding other than UTF-8. */
export function wantsAscii(
  { LC_ALL, LC_CTYPE, LANG }: Readonly<Record<string, string | undefined>>,
  platform: string,
): boolean {
  if (platform === "win32" || platform === "darwin") return false;
  const locale = LC_ALL || LC_CTYPE || LANG || "";
  // Without a locale, UTF-8 is assumed, because most terminals draw it.
  return locale !== "" && !/utf-?8/i.test(locale);
}
