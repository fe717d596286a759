import { parsePatch, structuredPatch, type StructuredPatch } from "diff";

/** The number of hunks of one file that are marked; a file with more counts as one large change. */
export const maxHunks = 100;
/** As in the diffs of actions: beyond this many edits, the whole file counts as one hunk. */
const maxEdits = 1000;

/** Returns the lines of the old text, from 0 and in order, where the hunks of a unified diff begin to change it. */
export function changedLines(diff: string): number[] {
  return linesOf(parsePatch(diff)[0]?.hunks ?? []);
}

/** The same, for two texts; `[0]` if they differ too much. */
export function changedLinesBetween(before: string, after: string): number[] {
  const patch = structuredPatch("", "", before, after, undefined, undefined, { maxEditLength: maxEdits });
  return patch === undefined ? [0] : linesOf(patch.hunks);
}

function linesOf(hunks: StructuredPatch["hunks"]): number[] {
  return hunks.slice(0, maxHunks).map(({ oldStart, lines }) => {
    const unchanged = lines.findIndex((line) => !line.startsWith(" "));
    return Math.max(0, oldStart - 1 + unchanged);
  });
}
