import { diffWordsWithSpace } from "diff";
import { manyLines } from "./foreign.ts";
import type { Surface } from "./style.ts";
import { padStart, truncate } from "./width.ts";

export type DiffLine =
  | { readonly kind: "hunk"; readonly text: string }
  | { readonly kind: "context"; readonly text: string; readonly before: number; readonly after: number }
  | { readonly kind: "removed"; readonly text: string; readonly before: number }
  | { readonly kind: "added"; readonly text: string; readonly after: number }
  | { readonly kind: "note"; readonly text: string };

/** Takes a unified diff of one file apart; its header is left out. */
export function parseDiff(diff: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  let inHunk = false;
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/.exec(line);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      inHunk = true;
      lines.push({ kind: "hunk", text: line });
    } else if (!inHunk) continue;
    else if (line.startsWith("+")) lines.push({ kind: "added", text: line.slice(1), after: after++ });
    else if (line.startsWith("-")) lines.push({ kind: "removed", text: line.slice(1), before: before++ });
    else if (line.startsWith("\\")) lines.push({ kind: "note", text: line.slice(2) });
    else lines.push({ kind: "context", text: line.slice(1), before: before++, after: after++ });
  }
  return lines;
}

export function countChanges(diff: string): { added: number; removed: number } {
  const lines = parseDiff(diff);
  return {
    added: lines.filter(({ kind }) => kind === "added").length,
    removed: lines.filter(({ kind }) => kind === "removed").length,
  };
}

/** Words are compared in lines up to this long; beyond, the line as a whole is what changed. */
const longestComparedLine = 400;

/** A diff as lines for a terminal: the line's number, its sign, its text; at most `maxLines`, and how many more there are. */
export function renderDiff(diff: string, { style, width }: Surface, maxLines: number): string[] {
  const lines = parseDiff(diff);
  const shown = lines.slice(0, maxLines);
  const numberWidth = Math.max(2, ...lines.map((line) => String(lineNumber(line) ?? "").length));
  const textWidth = Math.max(16, width - numberWidth - 3);
  const rendered: string[] = [];
  for (const [index, line] of shown.entries()) {
    const number = style.dim(padStart(String(lineNumber(line) ?? ""), numberWidth));
    const text = truncate(manyLines(line.text)[0] ?? "", textWidth);
    switch (line.kind) {
      case "hunk":
        if (index > 0) rendered.push(style.dim(`${" ".repeat(numberWidth)} ⋮`));
        break;
      case "context":
        rendered.push(`${number}   ${text}`.trimEnd());
        break;
      case "note":
        rendered.push(style.dim(`${" ".repeat(numberWidth + 3)}${text}`));
        break;
      case "removed":
        rendered.push(
          `${number} ${style.red(`- ${emphasised(text, partner(lines, index), "removed", style)}`)}`,
        );
        break;
      case "added":
        rendered.push(
          `${number} ${style.green(`+ ${emphasised(text, partner(lines, index), "added", style)}`)}`,
        );
        break;
    }
  }
  if (lines.length > shown.length) {
    rendered.push(style.dim(`${" ".repeat(numberWidth + 1)}… ${lines.length - shown.length} more lines`));
  }
  return rendered;
}

function lineNumber(line: DiffLine): number | undefined {
  if (line.kind === "removed") return line.before;
  return line.kind === "added" || line.kind === "context" ? line.after : undefined;
}

/** The line that this one was changed from, or to: only where as many lines came as went is it plain which. */
function partner(lines: readonly DiffLine[], index: number): string | undefined {
  let start = index;
  while (isChange(lines[start - 1])) start -= 1;
  let end = index;
  while (isChange(lines[end + 1])) end += 1;
  const block = lines.slice(start, end + 1);
  const half = block.length / 2;
  const pairs =
    block.slice(0, half).every(({ kind }) => kind === "removed") &&
    block.slice(half).every(({ kind }) => kind === "added");
  if (!Number.isInteger(half) || !pairs) return undefined;
  const place = index - start;
  return block[place < half ? place + half : place - half]?.text;
}

function isChange(line: DiffLine | undefined): boolean {
  return line?.kind === "added" || line?.kind === "removed";
}

/** The words that differ, inverted; nothing is where the lines have too little in common. */
function emphasised(
  text: string,
  other: string | undefined,
  side: "added" | "removed",
  style: Surface["style"],
): string {
  if (other === undefined || text.length > longestComparedLine || other.length > longestComparedLine)
    return text;
  const otherText = manyLines(other)[0] ?? "";
  const parts = side === "added" ? diffWordsWithSpace(otherText, text) : diffWordsWithSpace(text, otherText);
  const common = parts
    .filter((part) => !part.added && !part.removed)
    .reduce((sum, part) => sum + part.value.trim().length, 0);
  if (common * 3 < Math.max(text.length, otherText.length)) return text;
  return parts
    .filter((part) => (side === "added" ? !part.removed : !part.added))
    .map((part) => (part.added || part.removed ? style.inverse(part.value) : part.value))
    .join("");
}

/** "+3 −1" */
export function renderChangeCount(diff: string, style: Surface["style"]): string {
  const { added, removed } = countChanges(diff);
  return `${style.green(`+${added}`)} ${style.red(`−${removed}`)}`;
}
