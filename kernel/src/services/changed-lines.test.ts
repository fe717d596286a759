import { createTwoFilesPatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import { changedLines, changedLinesBetween, maxHunks } from "./changed-lines.ts";

const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `line ${index}`);
const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");
const diffOf = (before: string, after: string): string => createTwoFilesPatch("a/x", "b/x", before, after);

const twenty = numbered(20);
const cases: [string, readonly string[], number[]][] = [
  ["one line", twenty.with(7, "changed"), [7]],
  ["the first line", twenty.with(0, "changed"), [0]],
  ["the last line", twenty.with(19, "changed"), [19]],
  ["two places far from each other", twenty.with(2, "x").with(15, "y"), [2, 15]],
  ["two places near each other are one hunk", twenty.with(2, "x").with(5, "y"), [2]],
  ["a line that goes", twenty.toSpliced(9, 1), [9]],
  ["a line that comes", twenty.toSpliced(9, 0, "new"), [9]],
  ["lines at the end", [...twenty, "new"], [20]],
  ["everything goes", [], [0]],
  ["nothing", twenty, []],
];

test.each(cases)("%s", (_what, after, lines) => {
  expect(changedLines(diffOf(textOf(twenty), textOf(after)))).toEqual(lines);
  expect(changedLinesBetween(textOf(twenty), textOf(after))).toEqual(lines);
});

test("an empty file that gets a text, and a line that looks like a header", () => {
  expect(changedLines(diffOf("", "x\n"))).toEqual([0]);
  expect(changedLines(diffOf("-- a/x\n@@ -1 +1 @@\n", "++ b/x\n@@ -1 +1 @@\n"))).toEqual([0]);
});

test("more hunks than are shown are cut, and texts without a line in common are one change", () => {
  const many = numbered(2000);
  const changed = many.map((line, index) => (index % 10 === 0 ? "x" : line));
  expect(changedLines(diffOf(textOf(many), textOf(changed)))).toHaveLength(maxHunks);
  expect(changedLinesBetween(textOf(many), textOf(many.map((line) => `${line}!`)))).toEqual([0]);
});

test("each marked line is within the text before, or the one after its end, and they rise", () => {
  const line = fc.constantFrom("a", "b", "", "@@ -1,2 +3,4 @@", "--- x", "+++ y", "\\ No newline", "\r");
  const text = fc.array(line, { maxLength: 60 }).map((lines) => lines.join("\n"));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const marked = changedLines(diffOf(before, after));
      expect(marked).toEqual([...new Set(marked)].toSorted((one, other) => one - other));
      expect(Math.max(-1, ...marked)).toBeLessThanOrEqual(before.split("\n").length);
      expect(marked.length === 0).toBe(before === after);
    }),
  );
});
