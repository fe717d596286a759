import { visibleText } from "../../../kernel/src/base/visible-text.ts";
import { countChanges } from "../../../kernel/src/base/vocabulary/effect-words.ts";
import { hunksOf, shownLines } from "../deciding/hunks.ts";
import { maxDiffLines, maxLineCharacters, type FileDiff } from "../webviews/review/messages.ts";

const maxParts = 200;

/** Returns a unified diff for a card: every character visible, limited to the lines of a card. */
export function fileDiffOf(digest: FileDiff["digest"], diff: string | null | undefined): FileDiff {
  if (diff === null || diff === undefined)
    return {
      digest,
      hunks: [],
      added: 0,
      removed: 0,
      more: 0,
      note: "This is not a text, or it is too large to be shown here.",
    };
  const { added, removed } = countChanges(diff);
  const hunks: FileDiff["hunks"] = [];
  let [left, more] = [maxDiffLines, 0];
  for (const hunk of hunksOf(diff)) {
    const all = shownLines(hunk);
    const lines = all.slice(0, left);
    left -= lines.length;
    more += all.length - lines.length;
    if (hunks.length >= maxDiffLines) continue;
    // A hunk that is not drawn is counted all the same, so that hunks keep their numbers.
    hunks.push({
      title: titleOf(hunk),
      lines: lines.map(({ sign, number, parts }) => ({ sign, number, parts: partsOf(parts) })),
    });
  }
  return { digest, hunks, added, removed, more };
}

function partsOf(
  parts: readonly { readonly text: string; readonly changed: boolean }[],
): { text: string; changed: boolean }[] {
  const some =
    parts.length <= maxParts ? parts : [{ text: parts.map(({ text }) => text).join(""), changed: true }];
  const shown: { text: string; changed: boolean }[] = [];
  let left = maxLineCharacters;
  for (const [index, { text, changed }] of some.entries()) {
    if (left <= 0) break;
    const cut = text.slice(0, left);
    left -= cut.length;
    const isWhole = cut.length === text.length;
    shown.push({
      text: `${visible(cut, index === some.length - 1)}${isWhole ? "" : " (cut here; Show has all of it)"}`,
      changed,
    });
  }
  return shown;
}

/** Only in the last piece is a blank at the end also at the end of the line. */
function visible(text: string, isLast: boolean): string {
  return isLast ? visibleText(text) : visibleText(`${text}.`).slice(0, -1);
}

function titleOf({
  oldStart,
  oldLines,
  newStart,
  newLines,
}: {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
}): string {
  const [start, lines] = oldLines === 0 ? [newStart, newLines] : [oldStart, oldLines];
  const what = oldLines === 0 ? "New line" : "Line";
  return lines <= 1 ? `${what} ${start}` : `${what}s ${start}–${start + lines - 1}`;
}
