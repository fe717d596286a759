import { applyPatch, diffWordsWithSpace, parsePatch, type StructuredPatch } from "diff";

/** A hunk of a unified diff: the changes between two unchanged stretches, with the lines around them. */
export interface Hunk {
  /** The first line in the old text, from 1. */
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  /** Each with its sign: "+", "-" or " ". */
  readonly lines: readonly string[];
}

/** A part of a line; `changed` marks text that the corresponding line does not have. */
interface Part {
  readonly text: string;
  readonly changed: boolean;
}

/** Longer lines are marked as changed as a whole. Characters. */
const maxComparedCharacters = 1_000;
/** The number of lines of one replacement that are compared word by word. */
const maxComparedLines = 40;

/** Returns the hunks of a unified diff of one file, or none if the text is not a diff. */
export function hunksOf(diff: string): readonly Hunk[] {
  return patchOf(diff)?.hunks ?? [];
}

/**
 * Returns the old text with only the hunks that are not left out. Returns null if the diff does not lead from `before`
 * to `after`, so that nothing is approved that was not shown.
 */
export function withoutHunks(
  { before, after, diff }: { readonly before: string; readonly after: string; readonly diff: string },
  leftOut: ReadonlySet<number>,
): string | null {
  const patch = patchOf(diff);
  if (patch === null || applied(before, patch) !== after) return null;
  const hunks = patch.hunks.filter((_, index) => !leftOut.has(index));
  const text = applied(before, { ...patch, hunks });
  return text === false ? null : text;
}

function applied(text: string, patch: StructuredPatch): string | false {
  return patch.hunks.length === 0
    ? text
    : applyPatch(text, patch, { fuzzFactor: 0, autoConvertLineEndings: false });
}

function patchOf(diff: string): StructuredPatch | null {
  try {
    return parsePatch(diff)[0] ?? null;
  } catch (error) {
    // The kernel sends valid diffs; an invalid one from another peer has no hunks.
    if (error instanceof Error) return null;
    throw error;
  }
}

interface ShownLine {
  readonly sign: "+" | "-" | " ";
  /** In the text to which the line belongs: removed lines in the old one, the others in the new one. */
  readonly number: number;
  readonly parts: readonly Part[];
}

/** Returns the lines of a hunk; in lines that replace each other, the changed words are marked. */
export function shownLines({ lines, oldStart, newStart }: Hunk): ShownLine[] {
  const shown: ShownLine[] = [];
  let [oldNumber, newNumber] = [oldStart, newStart];
  for (let index = 0; index < lines.length;) {
    const removed = runOf(lines, index, "-");
    const added = runOf(lines, index + removed.length, "+");
    if (removed.length + added.length === 0) {
      const line = lines[index] ?? "";
      index += 1;
      if (line.startsWith("\\")) continue;
      shown.push({ sign: " ", number: newNumber, parts: [{ text: line.slice(1), changed: false }] });
      oldNumber += 1;
      newNumber += 1;
      continue;
    }
    index += removed.length + added.length;
    const { before, after } = comparedRuns(removed, added);
    for (const parts of before) shown.push({ sign: "-", number: oldNumber++, parts });
    for (const parts of after) shown.push({ sign: "+", number: newNumber++, parts });
  }
  return shown;
}

/** Returns the texts, without signs, of the consecutive lines with this sign from `start`. */
function runOf(lines: readonly string[], start: number, sign: string): string[] {
  const end = lines.findIndex((line, index) => index >= start && !line.startsWith(sign));
  return lines.slice(start, end < 0 ? undefined : end).map((line) => line.slice(1));
}

/** Pairs the most similar lines of a replacement and compares them; if there are equally many, in their order. */
function comparedRuns(
  removed: readonly string[],
  added: readonly string[],
): { before: readonly Part[][]; after: readonly Part[][] } {
  const whole = (text: string): Part[] => [{ text, changed: removed.length === 0 || added.length === 0 }];
  const before = removed.map(whole);
  const after = added.map(whole);
  if (removed.length + added.length > maxComparedLines) return { before, after };
  const free = new Set(added.keys());
  for (const [index, line] of removed.entries()) {
    let best: { at: number; similarity: number } | null = null;
    for (const at of free) {
      const similarity = similarityOf(line, added[at]!);
      if (similarity > 0.35 && (best === null || similarity > best.similarity)) best = { at, similarity };
    }
    if (best === null) {
      before[index] = [{ text: line, changed: true }];
      continue;
    }
    free.delete(best.at);
    const words = comparedWords(line, added[best.at]!);
    before[index] = words.before;
    after[best.at] = words.after;
  }
  if (removed.length > 0) for (const at of free) after[at] = [{ text: added[at]!, changed: true }];
  return { before, after };
}

/** Returns the share of the longer line's words that the other line has, from 0 to 1. */
function similarityOf(one: string, other: string): number {
  const words = (text: string): string[] => text.split(/\s+/u).filter(Boolean);
  const [few, many] = [words(one), words(other)];
  const pool = [...many];
  let shared = 0;
  for (const word of few) {
    const at = pool.indexOf(word);
    if (at < 0) continue;
    pool.splice(at, 1);
    shared += 1;
  }
  return shared / Math.max(1, few.length, many.length);
}

/** Splits both lines into pieces and marks what only one of them has. */
export function comparedWords(before: string, after: string): { before: Part[]; after: Part[] } {
  if (Math.max(before.length, after.length) > maxComparedCharacters)
    return { before: [{ text: before, changed: true }], after: [{ text: after, changed: true }] };
  const changes = diffWordsWithSpace(before, after);
  return {
    before: changes
      .filter(({ added }) => !added)
      .map(({ value, removed }) => ({ text: value, changed: removed })),
    after: changes
      .filter(({ removed }) => !removed)
      .map(({ value, added }) => ({ text: value, changed: added })),
  };
}
