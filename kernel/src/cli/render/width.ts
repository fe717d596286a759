import { stripVTControlCharacters } from "node:util";
import { eastAsianWidth } from "get-east-asian-width";

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const emoji =
  /^\p{Emoji_Presentation}|^\p{Extended_Pictographic}\ufe0f|^[0-9#*]\ufe0f?\u20e3|^\p{Regional_Indicator}{2}/u;
const zeroWidth = /^[\p{Mn}\p{Me}\p{Cf}]/u;
const ascii = /^[\x20-\x7e]*$/;

/** Columns a text takes at a terminal; colour codes take none. */
export function displayWidth(text: string): number {
  const plain = text.includes("\u001b") ? stripVTControlCharacters(text) : text;
  if (ascii.test(plain)) return plain.length;
  let width = 0;
  for (const { segment } of graphemes.segment(plain)) width += graphemeWidth(segment);
  return width;
}

function graphemeWidth(grapheme: string): number {
  if (emoji.test(grapheme)) return 2;
  return zeroWidth.test(grapheme) ? 0 : eastAsianWidth(grapheme.codePointAt(0) ?? 0);
}

/** Cuts a text without colour codes to `width` columns, the last one an ellipsis where something was left out. */
export function truncate(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  return width < 1 ? "" : `${take(text, width - 1)}…`;
}

/** Cuts out the middle, as suits a path: its first folder and its name say most. */
export function truncateMiddle(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width < 8) return truncate(text, width);
  const head = Math.floor((width - 1) / 3);
  const tail = [...graphemes.segment(text)].map(({ segment }) => segment).toReversed();
  let used = 0;
  const kept: string[] = [];
  for (const grapheme of tail) {
    used += graphemeWidth(grapheme);
    if (used > width - 1 - head) break;
    kept.unshift(grapheme);
  }
  return `${take(text, head)}…${kept.join("")}`;
}

export function padEnd(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}

export function padStart(text: string, width: number): string {
  return " ".repeat(Math.max(0, width - displayWidth(text))) + text;
}

/** Breaks a text without colour codes into lines of at most `width` columns, at spaces where there are any. */
export function wrap(text: string, width: number): string[] {
  return text.split("\n").flatMap((line) => wrapLine(line, Math.max(width, 8)));
}

function wrapLine(line: string, width: number): string[] {
  const lines: string[] = [];
  let current = "";
  for (const word of line.split(" ")) {
    let rest = word;
    const joined = current === "" ? rest : `${current} ${rest}`;
    if (displayWidth(joined) <= width) {
      current = joined;
      continue;
    }
    if (current !== "") lines.push(current);
    while (displayWidth(rest) > width) {
      const head = take(rest, width);
      lines.push(head);
      rest = rest.slice(head.length);
    }
    current = rest;
  }
  lines.push(current);
  return lines;
}

function take(text: string, width: number): string {
  let used = 0;
  let taken = "";
  for (const { segment } of graphemes.segment(text)) {
    used += graphemeWidth(segment);
    if (used > width) break;
    taken += segment;
  }
  return taken;
}
