import { createTwoFilesPatch } from "diff";
import { invalidParams, limitExceeded } from "../base/errors.ts";
import { actionLimits } from "./limits.ts";

export interface Edit {
  readonly find: string;
  readonly replace: string;
  readonly all?: boolean | undefined;
}

/** Decodes UTF-8; null if the bytes are not valid, or contain a NUL as binary files do. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? null : text;
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/**
 * Applies edits to UTF-8 text, one after the other. Each must find its text, and find it exactly once unless it sets
 * `all`. Time and memory are linear in the searched text, which `editedBytes` bounds; a result above `previewFileBytes`
 * is refused while its length is counted, before it is built. Throws InvalidParams and LimitExceeded.
 */
export function applyEdits(path: string, bytes: Uint8Array, edits: readonly Edit[]): Uint8Array {
  let edited = bytes;
  let searched = 0;
  for (const [index, edit] of edits.entries()) {
    // All remaining edits will search at least as much as this one, unless the text shrinks.
    searched += edited.length;
    checkSearched(path, Math.max(searched, index === 0 ? edits.length * bytes.length : 0), edits.length);
    edited = applyEdit(`Edit ${index} of ${JSON.stringify(path)}`, path, index, edited, edit);
  }
  return edited;
}

function checkSearched(path: string, searched: number, edits: number): void {
  if (searched <= actionLimits.editedBytes) return;
  throw limitExceeded(
    "editedBytes",
    searched,
    `${edits} edits of ${JSON.stringify(path)} would search ${searched} bytes; at most ${actionLimits.editedBytes} are allowed. Propose fewer edits, or write the whole file.`,
  );
}

function applyEdit(
  which: string,
  path: string,
  index: number,
  bytes: Uint8Array,
  { find, replace, all }: Edit,
): Uint8Array {
  // A lone surrogate occurs in no valid text, and would be encoded as another character.
  if (!find.isWellFormed() || !replace.isWellFormed())
    throw invalidParams(`${which}: "find" and "replace" must be valid Unicode.`, { path, edit: index });
  const search = new ByteSearch(new TextEncoder().encode(find));
  const replacement = new TextEncoder().encode(replace);
  const growth = replacement.length - search.length;
  const most = growth <= 0 ? Infinity : Math.floor((actionLimits.previewFileBytes - bytes.length) / growth);
  const count = search.count(bytes, most);
  if (count > most) {
    throw limitExceeded(
      "previewFileBytes",
      bytes.length + count * growth,
      `${which} would make the file larger than ${actionLimits.previewFileBytes} bytes.`,
    );
  }
  if (count === 0)
    throw invalidParams(`${which}: ${quoted(find)} does not occur in the file.`, { path, edit: index });
  if (count > 1 && all !== true) {
    throw invalidParams(
      `${which}: ${quoted(find)} occurs ${count} times. Include more of the text around it, or set "all".`,
      { path, edit: index },
    );
  }
  return search.replace(bytes, replacement, bytes.length + count * growth);
}

/**
 * Searches bytes with the algorithm of Knuth, Morris and Pratt. The engine's own search takes time proportional to the
 * product of both lengths for some texts, and cannot be interrupted.
 */
class ByteSearch {
  readonly #bytes: Uint8Array;
  /** For each length of a partial match: how much of it may still begin a match if the next byte differs. */
  readonly #fallbacks: Int32Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#fallbacks = new Int32Array(bytes.length);
    for (let at = 1, matched = 0; at < bytes.length; at++) {
      while (matched > 0 && bytes[at] !== bytes[matched]) matched = this.#fallbacks[matched - 1] ?? 0;
      if (bytes[at] === bytes[matched]) matched++;
      this.#fallbacks[at] = matched;
    }
  }

  get length(): number {
    return this.#bytes.length;
  }

  /** Counts non-overlapping occurrences; stops at one more than `most`. */
  count(text: Uint8Array, most: number): number {
    const bytes = this.#bytes;
    const fallbacks = this.#fallbacks;
    let count = 0;
    for (let at = 0, matched = 0; at < text.length; at++) {
      const byte = text[at];
      while (matched > 0 && byte !== bytes[matched]) matched = fallbacks[matched - 1] ?? 0;
      if (byte === bytes[matched]) matched++;
      if (matched < bytes.length) continue;
      matched = 0;
      if (++count > most) break;
    }
    return count;
  }

  /** Returns the text, of `length` bytes, with every occurrence replaced. */
  replace(text: Uint8Array, replacement: Uint8Array, length: number): Uint8Array {
    const bytes = this.#bytes;
    const fallbacks = this.#fallbacks;
    // The beginning of a match is written before the match is complete.
    const edited = new Uint8Array(length + bytes.length);
    let written = 0;
    for (let at = 0, matched = 0; at < text.length; at++) {
      const byte = text[at] ?? 0;
      edited[written++] = byte;
      while (matched > 0 && byte !== bytes[matched]) matched = fallbacks[matched - 1] ?? 0;
      if (byte === bytes[matched]) matched++;
      if (matched < bytes.length) continue;
      matched = 0;
      written -= bytes.length;
      if (replacement.length > shortBytes) edited.set(replacement, written);
      else
        for (let each = 0; each < replacement.length; each++) edited[written + each] = replacement[each] ?? 0;
      written += replacement.length;
    }
    return edited.subarray(0, length);
  }
}

/** Up to this length, copying byte by byte is faster than a call. */
const shortBytes = 32;

function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

/**
 * Returns a unified diff; undefined if a side is not text or longer than `diffTextBytes`. Null stands for a missing
 * file. The search for the smallest diff ends after `diffEdits` lines; then everything between the first and the last
 * differing line is shown as removed and added.
 */
export function unifiedDiff(
  names: { readonly before: string; readonly after: string },
  before: Uint8Array | null,
  after: Uint8Array | null,
): string | undefined {
  const limit = actionLimits.diffTextBytes;
  if ((before?.length ?? 0) > limit || (after?.length ?? 0) > limit) return undefined;
  const [old, changed] = [before === null ? "" : textOf(before), after === null ? "" : textOf(after)];
  if (old === null || changed === null) return undefined;
  const oldName = before === null ? "/dev/null" : `a/${oneLine(names.before)}`;
  const newName = after === null ? "/dev/null" : `b/${oneLine(names.after)}`;
  const patch = createTwoFilesPatch(oldName, newName, old, changed, undefined, undefined, {
    maxEditLength: actionLimits.diffEdits,
  });
  return withoutIndexLine(patch ?? coarseDiff(oldName, newName, old, changed));
}

const oneLine = (name: string): string => name.replace(/[\r\n\t]/g, "?");

/** The library begins with a line of "=" that no patch tool needs. */
const withoutIndexLine = (patch: string): string => patch.replace(/^=+\n/, "");

/** Unchanged lines that are shown around a change. */
const contextLines = 4;

/** Returns one hunk from the first differing line to the last, in linear time. */
function coarseDiff(oldName: string, newName: string, old: string, changed: string): string {
  const [oldLines, newLines] = [linesOf(old), linesOf(changed)];
  const shorter = Math.min(oldLines.length, newLines.length);
  let start = 0;
  while (start < shorter && oldLines[start] === newLines[start]) start++;
  let end = 0;
  while (end < shorter - start && oldLines.at(-1 - end) === newLines.at(-1 - end)) end++;
  const from = Math.max(0, start - contextLines);
  const kept = Math.max(0, end - contextLines);
  const range = (count: number): string => `${count === 0 ? 0 : from + 1},${count}`;
  const marked = (lines: readonly string[], mark: string): string[] =>
    lines.map((line) =>
      line.endsWith("\n") ? mark + line : `${mark}${line}\n\\ No newline at end of file\n`,
    );
  return [
    `--- ${oldName}\n+++ ${newName}\n`,
    `@@ -${range(oldLines.length - kept - from)} +${range(newLines.length - kept - from)} @@\n`,
    ...marked(oldLines.slice(from, start), " "),
    ...marked(oldLines.slice(start, oldLines.length - end), "-"),
    ...marked(newLines.slice(start, newLines.length - end), "+"),
    ...marked(oldLines.slice(oldLines.length - end, oldLines.length - kept), " "),
  ].join("");
}

/** The lines of a text, each with its line end. */
function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/);
}
