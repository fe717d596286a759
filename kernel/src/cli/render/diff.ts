import { diffWordsWithSpace } from "diff";
import { decisionLines, type Emphasis } from "./decision-text.ts";
import type { Surface } from "./style.ts";
import { padStart } from "./width.ts";

export type DiffLine =
  | { readonly kind: "hunk"; readonly text: string }
  | { readonly kind: "context"; readonly text: string; readonly before: number; readonly after: number }
  | { readonly kind: "removed"; readonly text: string; readonly before: number }
  | { readonly kind: "added"; readonly text: string; readonly after: number }
  | { readonly kind: "note"; readonly text: string };

/** Parses a unified diff of one file; omits its header. */
function parseDiff(diff: string): DiffLine[] {
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

/** Words are compared in lines up to this length; beyond it, the whole line counts as changed. */
const longestComparedLine = 400;
/** If more words differ than this, the whole line counts as changed. */
const maxWordEdits = 100;

/**
 * Renders a diff for a terminal: the number of the line, its sign, its text. The text is complete, as drawn by
 * `decisionLines`: what does not fit continues on the next line, which has neither number nor sign.
 */
export function renderDiff(diff: string, { style, width, isAscii }: Surface): string[] {
  const lines = parseDiff(diff);
  const partners = partnersOf(lines);
  const numberWidth = Math.max(
    2,
    String(lines.reduce((most, line) => Math.max(most, lineNumber(line) ?? 0), 0)).length,
  );
  const textWidth = Math.max(16, width - numberWidth - 3);
  const margin = " ".repeat(numberWidth + 3);
  return lines.flatMap((line, index): string[] => {
    switch (line.kind) {
      case "hunk":
        return index === 0 ? [] : [style.dim(`${" ".repeat(numberWidth)} ⋮`)];
      case "note":
        return decisionLines(line.text, textWidth, { isAscii }).map((text) => style.dim(margin + text));
      case "context":
      case "removed":
      case "added": {
        const [sign, colour] = looks(line.kind, style);
        const number = style.dim(padStart(String(lineNumber(line) ?? ""), numberWidth));
        const emphasised = emphasis(line, lines[partners[index] ?? -1], style);
        return decisionLines(line.text, textWidth, { emphasis: emphasised, isAscii }).map((text, row) =>
          row === 0 ? `${number} ${colour(`${sign} ${text}`)}` : margin + colour(text),
        );
      }
    }
  });
}

function looks(
  kind: "context" | "removed" | "added",
  style: Surface["style"],
): [sign: string, colour: (text: string) => string] {
  if (kind === "removed") return ["-", style.red];
  return kind === "added" ? ["+", style.green] : [" ", (text) => text];
}

function lineNumber(line: DiffLine): number | undefined {
  if (line.kind === "removed") return line.before;
  return line.kind === "added" || line.kind === "context" ? line.after : undefined;
}

/**
 * Returns, for each line, the index of the line that it was changed from or to; undefined if that is ambiguous, that
 * is, unless as many lines were removed as added. Looks at each line a bounded number of times.
 */
export function partnersOf(lines: readonly Pick<DiffLine, "kind">[]): (number | undefined)[] {
  const partners: (number | undefined)[] = lines.map(() => undefined);
  for (let start = 0; start < lines.length; start++) {
    let middle = start;
    while (lines[middle]?.kind === "removed") middle += 1;
    let end = middle;
    while (lines[end]?.kind === "added") end += 1;
    const half = middle - start;
    if (half > 0 && end - middle === half && lines[end]?.kind !== "removed")
      for (let place = 0; place < half; place++) {
        partners[start + place] = middle + place;
        partners[middle + place] = start + place;
      }
    // Continue to the end of the lines that changed together.
    while (lines[end]?.kind === "removed" || lines[end]?.kind === "added") end += 1;
    start = Math.max(start, end - 1);
  }
  return partners;
}

/** Returns the differing words to be inverted; undefined if the lines have too little in common. */
function emphasis(
  line: DiffLine,
  other: DiffLine | undefined,
  style: Surface["style"],
): Emphasis | undefined {
  const { text } = line;
  if (other === undefined || text.length > longestComparedLine || other.text.length > longestComparedLine)
    return undefined;
  const isAdded = line.kind === "added";
  const options = { maxEditLength: maxWordEdits };
  const parts = isAdded
    ? diffWordsWithSpace(other.text, text, options)
    : diffWordsWithSpace(text, other.text, options);
  if (parts === undefined) return undefined;
  const common = parts
    .filter((part) => !part.added && !part.removed)
    .reduce((sum, part) => sum + part.value.trim().length, 0);
  if (common * 3 < Math.max(text.length, other.text.length)) return undefined;
  const differs: boolean[] = [];
  for (const { added, removed, value } of parts)
    if (!(isAdded ? removed : added))
      for (let unit = 0; unit < value.length; unit++) differs.push(added || removed);
  return { has: (offset) => differs[offset] === true, draw: style.inverse };
}
