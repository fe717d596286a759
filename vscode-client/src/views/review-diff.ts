import { visibleText } from "../../../kernel/src/base/visible-text.ts";
import { countChanges } from "../../../kernel/src/base/effect-words.ts";
import { hunksOf, shownLines } from "../changes/hunks.ts";
import { maxDiffLines, maxLineCharacters, type FileDiff } from "../webviews/review/messages.ts";

const maxParts = 200;

/** A unified diff as a card draws it: every character visible, as many lines as a card holds. */
export function fileDiffOf(digest: FileDiff["digest"], diff: string | null | undefined): FileDiff {
  if (diff === null || diff === undefined)
    return {
      digest,
      hunks: [],
      added: 0,
      removed: 0,
      more: 0,
      note: "This is no text, or too large to be shown here.",
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
    // A part that is not drawn is still counted, so that parts keep their numbers.
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

/** A blank at the end of a piece is at the end of a line only in the last one. */
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
