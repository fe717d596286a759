import { isJsonObject } from "./json.ts";

/** How a client counts the characters of a line: in bytes of UTF-8, or in units of UTF-16 as JavaScript does. */
export type PositionEncoding = "utf-8" | "utf-16";

/** A place in a text as LSP names it: both from 0. Lines end with LF, CRLF or CR. */
export interface TextPosition {
  readonly line: number;
  readonly character: number;
}

/** One entry of `textDocument/didChange`. Without a range it is the whole text. */
export interface ContentChange {
  readonly range?: { readonly start: TextPosition; readonly end: TextPosition } | null;
  readonly text: string;
}

/** Returns the `contentChanges` of a `textDocument/didChange`; null where one of them has another shape. */
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
 * Returns the text after a change. A position behind a line's end is its end, and one behind the last line is the end of
 * the text. A range may name its end first.
 */
export function applyChange(text: string, change: ContentChange, encoding: PositionEncoding): string {
  if (change.range === undefined || change.range === null) return change.text;
  const [one, other] = [change.range.start, change.range.end].map((end) => offsetAt(text, end, encoding));
  const [start, end] = [Math.min(one ?? 0, other ?? 0), Math.max(one ?? 0, other ?? 0)];
  return text.slice(0, start) + change.text + text.slice(end);
}

/** Returns the offset of a position, in units of UTF-16. Within a character of several bytes it is the character's. */
function offsetAt(text: string, { line, character }: TextPosition, encoding: PositionEncoding): number {
  if (line < 0) return 0;
  const lineBreak = /\r\n|\n|\r/g;
  let start = 0;
  for (let passed = 0; passed < line; passed++) {
    if (lineBreak.exec(text) === null) return text.length;
    start = lineBreak.lastIndex;
  }
  const end = lineBreak.exec(text)?.index ?? text.length;
  return start + toUtf16(text.slice(start, end), character, encoding);
}

/** Returns the lines of a text, without their ends. */
export function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/);
}

/** Returns how many units of UTF-16 of a line a character in this encoding stands for; at most the line's. */
export function toUtf16(line: string, character: number, encoding: PositionEncoding): number {
  if (encoding === "utf-16") return Math.max(0, Math.min(character, line.length));
  let [units, bytes] = [0, 0];
  for (const each of line) {
    bytes += bytesOf(each);
    if (bytes > character) break;
    units += each.length;
  }
  return units;
}

/** Returns the character in this encoding for as many units of UTF-16 of a line. */
export function fromUtf16(line: string, units: number, encoding: PositionEncoding): number {
  if (encoding === "utf-16") return units;
  let [passed, bytes] = [0, 0];
  for (const each of line) {
    passed += each.length;
    if (passed > units) break;
    bytes += bytesOf(each);
  }
  return bytes;
}

/** `character`: one code point. Half of a surrogate pair is sent as U+FFFD, which has three bytes. */
function bytesOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}
