import { createTwoFilesPatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fileMarks, markedLines, maxMarks } from "./marks.ts";
import { action as anAction } from "../testing/things.ts";

const diffOf = (before: string, after: string): string => createTwoFilesPatch("a/x", "b/x", before, after);

test.each([
  ["a line is replaced", "a\nb\nc\n", "a\nB\nc\n", [{ line: 1, kind: "changed" }]],
  ["the first line is new", "a\nb\n", "# title\n\na\nb\n", [{ line: 0, kind: "inserted" }]],
  ["the last line is new", "a\nb\n", "a\nb\nc\n", [{ line: 2, kind: "inserted" }]],
  ["a line goes", "a\nb\nc\n", "a\nc\n", [{ line: 1, kind: "changed" }]],
  ["without an end of line", "a\nb", "a\nB", [{ line: 1, kind: "changed" }]],
  ["from nothing", "", "a\n", [{ line: 0, kind: "inserted" }]],
  [
    "two places far apart",
    "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n",
    "1\nzwei\n3\n4\n5\n6\n7\n8\n9\n10\n11\n11½\n12\n",
    [
      { line: 1, kind: "changed" },
      { line: 11, kind: "inserted" },
    ],
  ],
])("marks of a diff: %s", (_name, before, after, marks) => {
  expect(markedLines(diffOf(before, after))).toEqual(marks);
});

test("a text that is not a diff has no marks", () => {
  expect(markedLines("@@ -1,99 +1 @@\n nonsense")).toEqual([]);
});

test("marks are bounded", () => {
  const before = Array.from({ length: 5000 }, (_, index) => `${index}\n`).join("");
  expect(markedLines(diffOf(before, ""))).toHaveLength(maxMarks);
});

test("every changed mark is a line that the new text does not contain", () => {
  const line = fc.constantFrom("a", "b", "c", "d", "e");
  fc.assert(
    fc.property(fc.uniqueArray(line), fc.uniqueArray(line), (before, after) => {
      const text = (lines: readonly string[]): string => lines.map((each) => `${each}\n`).join("");
      const marks = markedLines(diffOf(text(before), text(after)));
      const changed = new Set(marks.filter(({ kind }) => kind === "changed").map(({ line }) => line));
      const kept = before.filter((_, index) => !changed.has(index));
      // What is not marked as changed is in the text after, in its order.
      let from = 0;
      for (const each of kept) {
        const at = after.indexOf(each, from);
        expect(at).toBeGreaterThanOrEqual(from);
        from = at + 1;
      }
      expect(marks.every(({ line }) => line <= before.length)).toBe(true);
    }),
  );
});

test("of several effects on a file only the first has lines: the next starts from its result", () => {
  const effect = { kind: "file.edit" as const, path: "a.md", before: null, after: null, summary: "" };
  const action = anAction({
    effects: [
      { ...effect, diff: diffOf("a\n", "b\n") },
      { ...effect, diff: diffOf("b\n", "b\nc\n") },
    ],
  });
  expect(fileMarks(action, "a.md")?.lines).toEqual([{ line: 0, kind: "changed" }]);
  expect(fileMarks(action, "b.md")).toBe(undefined);
});
