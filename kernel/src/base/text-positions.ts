import { isJsonObject } from "./json.ts";

/** How a client counts the characters of a line: in UTF-8 bytes, or in UTF-16 units as JavaScript does. */
export type PositionEncoding = "utf-8" | "utf-16";

/** A position in a text as in LSP, both numbers counted from 0. Lines end with LF, CRLF or CR. */
export interface TextPosition {
  readonly line: number;
  readonly character: number;
}

/** One entry of `textDocument/didChange`. Without a range, `text` is the whole text. */
export interface ContentChange {
  readonly range?: { readonly start: TextPosition; readonly end: TextPosition } | null;
  readonly text: string;
}

/** Returns the `contentChanges` of a `textDocument/didChange`, or null if one of them is malformed. */
export function contentChangesOf(params: unknown): readonly ContentChange[] | null {
  const changes = isJsonObject(params) ? params["contentChanges"] : null;
  return Array.isArray(changes) && changes.every(isContentChange) ? changes : null;
}

function isContentChange(value: unknown): value is ContentChange {
  if (!isJsonObject(value) || typeof value["text"] !== "string") return false;
  const { range } = value;
  if (range === undefined || range === null) return true;
  return isJsonObject(range) && isTextPosition(range["start"]) && isTextPosition(range["end"]);
}

export function isTextPosition(value: unknown): value is TextPosition {
  return isJsonObject(value) && Number.isInteger(value["line"]) && Number.isInteger(value["character"]);
}

/**
 * Returns the text after a change. A position after the end of a line means the end of the line, one after the last
 * line means the end of the text. The two ends of a range may be swapped.
 */
export function applyChange(text: string, change: ContentChange, encoding: PositionEncoding): string {
  if (change.range === undefined || change.range === null) return change.text;
  const [one, other] = [change.range.start, change.range.end].map((end) => offsetAt(text, end, encoding));
  const [start, end] = [Math.min(one ?? 0, other ?? 0), Math.max(one ?? 0, other ?? 0)];
  return text.slice(0, start) + change.text + text.slice(end);
}

/** The number of characters that the kernel reads at most for the changes of one notification: about 100 ms. */
export const maxChangeWork = 64 * 1024 * 1024;

/** The fixed costs of reading a text and of each of its lines, in characters. */
const lookCost = 100;
const lineCost = 10;

/**
 * Returns the text after all changes, applied in order, or null if that would mean reading more than `maxWork`
 * characters. Changes ordered from the end of the text to its beginning, as editors send them for "replace all", share
 * one pass; every other change needs its own.
 */
export function applyChanges(
  text: string,
  changes: readonly ContentChange[],
  encoding: PositionEncoding,
  maxWork: number = Infinity,
): string | null {
  let work = 0;
  let after = text;
  for (let at = 0; at < changes.length;) {
    const change = changes[at];
    const isWhole = change?.range === undefined || change.range === null;
    if (!isWhole) work += after.length + lookCost;
    if (work > maxWork) return null;
    if (change !== undefined && (isWhole || at === changes.length - 1)) {
      after = applyChange(after, change, encoding);
      at++;
    } else {
      const taken = applyBackwards(after, changes, at, encoding, maxWork - work);
      after = taken.text;
      work += taken.work;
      at += taken.count;
    }
  }
  return after;
}

/** Applies the changes from `at` on, as long as each lies before the previous one: at least one. */
function applyBackwards(
  text: string,
  changes: readonly ContentChange[],
  at: number,
  encoding: PositionEncoding,
  maxWork: number,
): { text: string; count: number; work: number } {
  const starts = lineStarts(text);
  const tail: string[] = [];
  let [begin, count, work] = [text.length, 0, starts.length * lineCost];
  while (at + count < changes.length && (count === 0 || work <= maxWork)) {
    const change = changes[at + count];
    if (change?.range === undefined || change.range === null) break;
    const { range } = change;
    const ends = [range.start, range.end].map((position) => endAt(text, starts, position, encoding));
    const start = Math.min(...ends.map(({ offset }) => offset));
    const end = Math.max(...ends.map(({ offset }) => offset));
    // UTF-8 positions are counted character by character.
    if (encoding === "utf-8")
      work += boundedLength(text, range.start.character) + boundedLength(text, range.end.character);
    // The text after `begin` has changed by now: a line that ended there may continue, or its line break may now be
    // two.
    const isBefore = ends.every(
      ({ offset, isExact }) =>
        offset < begin || (offset === begin && isExact && text.charCodeAt(begin - 1) !== carriageReturn),
    );
    if (count > 0 && !isBefore) break;
    tail.push(text.slice(end, begin), change.text);
    begin = start;
    count++;
  }
  return { text: text.slice(0, begin) + tail.toReversed().join(""), count, work };
}

/** `isExact`: the position exists in the text and was not clamped. */
function endAt(
  text: string,
  starts: readonly number[],
  { line, character }: TextPosition,
  encoding: PositionEncoding,
): { offset: number; isExact: boolean } {
  if (line < 0) return { offset: 0, isExact: false };
  const start = starts[line];
  if (start === undefined) return { offset: text.length, isExact: false };
  const offset = offsetInLine(text, start, character, encoding);
  return { offset, isExact: encoding === "utf-16" && offset === start + character };
}

function boundedLength(text: string, character: number): number {
  return Math.min(Math.max(character, 0), text.length);
}

/** Returns the offset of a position in UTF-16 units. Inside a multi-byte character, that is the character's start. */
function offsetAt(text: string, { line, character }: TextPosition, encoding: PositionEncoding): number {
  if (line < 0) return 0;
  let start = 0;
  for (let at = 0, passed = 0; passed < line; at++) {
    if (at >= text.length) return text.length;
    if (!endsLine(text, at)) continue;
    passed++;
    start = at + 1;
  }
  return offsetInLine(text, start, character, encoding);
}

function offsetInLine(text: string, start: number, character: number, encoding: PositionEncoding): number {
  if (encoding === "utf-16") {
    let end = start;
    const most = Math.min(text.length, start + character);
    while (end < most && !isBreak(text.charCodeAt(end))) end++;
    return end;
  }
  let end = start;
  // Each character has at least one byte.
  const most = Math.min(text.length, start + character + 1);
  while (end < most && !isBreak(text.charCodeAt(end))) end++;
  return start + toUtf16(text.slice(start, end), character, encoding);
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = 0; at < text.length; at++) if (endsLine(text, at)) starts.push(at + 1);
  return starts;
}

/** True for the last unit of a line break. */
function endsLine(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit === lineFeed || (unit === carriageReturn && text.charCodeAt(at + 1) !== lineFeed);
}

function isBreak(unit: number): boolean {
  return unit === lineFeed || unit === carriageReturn;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Returns the position of an offset, in UTF-16 units. An offset within a line break is at the end of its line. */
export function positionAt(text: string, offset: number): TextPosition {
  const bounded = Math.max(0, Math.min(offset, text.length));
  for (let [line, start] = [0, 0]; ; line++) {
    const end = lineEnd(text, start);
    const next = end + (text.startsWith("\r\n", end) ? 2 : 1);
    if (bounded < next || end === text.length) return { line, character: Math.min(bounded, end) - start };
    start = next;
  }
}

/** The distance between two remembered positions, in lines. */
const linesBetweenMarks = 256;

/** Finds lines by their number. Reads the text only as far as needed and does not split it. */
export class LineIndex {
  readonly #text: string;
  /** The start of every 256th line, as far as the text was read. */
  readonly #marks = [0];

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns a line without its line break, or undefined if the text has no such line. */
  lineAt(number: number): string | undefined {
    if (number < 0) return undefined;
    const known = Math.min(Math.floor(number / linesBetweenMarks), this.#marks.length - 1);
    let start = this.#marks[known] ?? 0;
    for (let line = known * linesBetweenMarks; line < number;) {
      const end = lineEnd(this.#text, start);
      if (end === this.#text.length) return undefined;
      start = end + (this.#text.startsWith("\r\n", end) ? 2 : 1);
      line++;
      if (line === this.#marks.length * linesBetweenMarks) this.#marks.push(start);
    }
    return this.#text.slice(start, lineEnd(this.#text, start));
  }
}

function lineEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && !isBreak(text.charCodeAt(end))) end++;
  return end;
}

/** Converts a character position in this encoding to UTF-16 units; at most the length of the line. */
export function toUtf16(line: string, character: number, encoding: PositionEncoding): number {
  if (encoding === "utf-16") return Math.max(0, Math.min(character, line.length));
  let units = 0;
  for (let bytes = 0; units < line.length;) {
    const code = line.codePointAt(units) ?? 0;
    bytes += bytesOf(code);
    if (bytes > character) break;
    units += unitsOf(code);
  }
  return units;
}

/** Converts UTF-16 units of a line to a character position in this encoding. */
export function fromUtf16(line: string, units: number, encoding: PositionEncoding): number {
  if (encoding === "utf-16") return units;
  let bytes = 0;
  for (let passed = 0; passed < line.length;) {
    const code = line.codePointAt(passed) ?? 0;
    passed += unitsOf(code);
    if (passed > units) break;
    bytes += bytesOf(code);
  }
  return bytes;
}

/** A lone surrogate is sent as U+FFFD, which takes three bytes. */
function bytesOf(code: number): number {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

function unitsOf(code: number): number {
  return code < 0x10000 ? 1 : 2;
}
