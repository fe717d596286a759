import { BlockScanner } from "./blocks.ts";
import type { Places } from "./places.ts";

/** True for a file that shows a conversation. */
export function isChatFile(uri: string): boolean {
  return uri.endsWith(".chat.md");
}

/** The text that a person has written to be sent, and the place of its heading. Offsets in UTF-16 units. */
export interface OwnTurn {
  /** The start of the line of the heading `## You`. */
  readonly start: number;
  /** The end of what the person wrote, without the blanks behind it. */
  readonly end: number;
  /** Without the heading, and without the blanks around it; empty if nothing was written yet. */
  readonly text: string;
}

const atx = /^ {0,3}##(?=[ \t]|$)/;
const underline = /^ {0,3}-+[ \t]*$/;
/** Lines that no paragraph begins with, so that `---` below them makes no heading of them. */
const otherBlock = /^(?: {4}|\t| {0,3}(?:>|#{1,6}(?:[ \t]|$)|[-*+](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$)))/;

/** Returns true for the name of a person's turn in a heading, in any case. */
export function namesPerson(heading: string): boolean {
  return heading.trim().toLowerCase() === "you";
}

/**
 * Returns the last turn of the person that begins at `from` or behind it; null if there is none. A turn begins with a heading
 * of the second level, `## You` or `You` above a line of hyphens, which is neither in code nor in HTML.
 */
export function lastTurn(text: string, from = 0): OwnTurn | null {
  const scanner = new BlockScanner();
  let found: { readonly start: number; readonly body: number } | null = null;
  /** Lines of the paragraph so far. */
  let paragraph: { lines: number; start: number; first: string } | null = null;
  for (const { start, end, next } of linesFrom(text, lineAtOrAfter(text, from))) {
    // A byte order mark says nothing about the first line, which begins with it all the same.
    const line = text.slice(start === 0 && text.startsWith("\ufeff") ? 1 : start, end);
    if (!scanner.isText(line)) {
      paragraph = null;
      continue;
    }
    const heading = headingIn(line);
    if (heading !== null && namesPerson(heading)) found = { start, body: next };
    else if (paragraph?.lines === 1 && underline.test(line) && namesPerson(paragraph.first))
      found = { start: paragraph.start, body: next };
    if (line.trim() === "" || heading !== null || underline.test(line)) paragraph = null;
    else if (paragraph !== null) paragraph.lines += 1;
    else if (!otherBlock.test(line)) paragraph = { lines: 1, start, first: line };
  }
  if (found === null) return null;
  const body = text.slice(found.body);
  return { start: found.start, end: found.body + body.trimEnd().length, text: body.trim() };
}

/**
 * Returns the text of a heading of the second level, without the hashes that may close it; null for any other line. The
 * blanks and hashes are counted from the end: a pattern would try each division of a long run of blanks.
 */
function headingIn(line: string): string | null {
  const start = atx.exec(line)?.[0].length;
  if (start === undefined) return null;
  let end = line.length;
  while (end > start && isBlank(line.charCodeAt(end - 1))) end--;
  let closing = end;
  while (closing > start && line.charCodeAt(closing - 1) === hash) closing--;
  return line.slice(start, closing > start && isBlank(line.charCodeAt(closing - 1)) ? closing : end);
}

/**
 * Returns the offset behind everything in a text that nobody has seen being written: its end, without the blanks there,
 * or the heading of a turn with nothing below it, which is the person's to fill in.
 */
export function endOfForeign(text: string): number {
  const turn = lastTurn(text);
  return turn?.text === "" ? turn.start : text.trimEnd().length;
}

/** Returns the places in a text that nobody has seen being written. */
export function foreignPlaces(text: string): Places {
  const end = endOfForeign(text);
  return { answer: end, floor: end };
}

function* linesFrom(text: string, from: number): Generator<{ start: number; end: number; next: number }> {
  for (let start = from; start < text.length;) {
    let end = start;
    while (end < text.length && !isBreak(text.charCodeAt(end))) end++;
    const next = end + (text.startsWith("\r\n", end) ? 2 : end < text.length ? 1 : 0);
    yield { start, end, next };
    start = next;
  }
}

/** The rest of a line is not a line of its own. */
function lineAtOrAfter(text: string, from: number): number {
  if (from === 0 || (isBreak(text.charCodeAt(from - 1)) && !isInsideBreak(text, from))) return from;
  let end = from;
  while (end < text.length && !isBreak(text.charCodeAt(end))) end++;
  return end + (text.startsWith("\r\n", end) ? 2 : end < text.length ? 1 : 0);
}

function isInsideBreak(text: string, at: number): boolean {
  return text.charCodeAt(at - 1) === carriageReturn && text.charCodeAt(at) === lineFeed;
}

function isBreak(unit: number): boolean {
  return unit === lineFeed || unit === carriageReturn;
}

function isBlank(unit: number): boolean {
  return unit === space || unit === tab;
}

const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const hash = 0x23;
