import { Lines, type TextEdit } from "./diagnostics.ts";

/** Applies edits that do not overlap. All offsets refer to the original text. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  const lines = new Lines(text);
  return edits
    .map(({ range, newText }) => ({
      start: lines.offset(range.start),
      end: lines.offset(range.end),
      newText,
    }))
    .toSorted((one, other) => other.start - one.start)
    .reduce((result, { start, end, newText }) => result.slice(0, start) + newText + result.slice(end), text);
}
