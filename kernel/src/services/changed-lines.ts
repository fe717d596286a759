import { parsePatch, structuredPatch, type StructuredPatch } from "diff";

/** Hunks of one file that are marked; a file that changes in more places is one large change anyway. */
export const maxHunks = 100;
/** As in the diffs that actions carry: beyond so many edits the whole file counts as one hunk. */
const maxEdits = 1000;

/** Where the hunks of a unified diff begin to change the text: lines of the text before, from 0, in order. */
export function changedLines(diff: string): number[] {
  return linesOf(parsePatch(diff)[0]?.hunks ?? []);
}

/** The same, for two texts; `[0]` where they differ too much to tell. */
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
