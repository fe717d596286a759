import { createTwoFilesPatch } from "diff";
import { expect, test } from "vitest";
import { hunksOf, shownLines, withoutHunks } from "./hunks.ts";

const numbered = (change: Readonly<Record<number, string>>): string =>
  Array.from({ length: 40 }, (_, index) => `${change[index + 1] ?? `line ${index + 1}`}\n`).join("");
const before = numbered({});
const after = numbered({ 3: "line three", 20: "line 20\nline 20 and a half", 38: "line thirty-eight" });
const diff = createTwoFilesPatch("a", "a", before, after);

test.each([
  { leftOut: [], text: after },
  { leftOut: [0, 1, 2], text: before },
  { leftOut: [0], text: numbered({ 20: "line 20\nline 20 and a half", 38: "line thirty-eight" }) },
  { leftOut: [1], text: numbered({ 3: "line three", 38: "line thirty-eight" }) },
])("the parts that are not left out make the text: without $leftOut", ({ leftOut, text }) => {
  expect(hunksOf(diff)).toHaveLength(3);
  expect(withoutHunks({ before, after, diff }, new Set(leftOut))).toBe(text);
});

test.each([
  ["no line break at its end", "a\nb", "a\nc\n"],
  ["lines that end as on Windows", "a\r\nb\r\n", "a\r\nc\r\n"],
  ["nothing before", "", "a\n"],
  ["nothing after", "a\n", ""],
])("a text with %s is taken apart as any", (_name, before, after) => {
  const diff = createTwoFilesPatch("a", "a", before, after);
  expect(withoutHunks({ before, after, diff }, new Set())).toBe(after);
  expect(withoutHunks({ before, after, diff }, new Set([0]))).toBe(before);
});

test("a diff that does not lead from one text to the other is not split", () => {
  expect(withoutHunks({ before, after: `${after}rm -rf /\n`, diff }, new Set([0]))).toBeNull();
  expect(withoutHunks({ before: `${before}!`, after, diff }, new Set([0]))).toBeNull();
});

test("in lines that replace each other, only the changed words are marked", () => {
  const [hunk] = hunksOf(
    createTwoFilesPatch("a", "a", "Along the river, three hours.\n", "# River\n\nAlong the river.\n"),
  );
  const marked = shownLines(hunk!).map(({ sign, number, parts }) => [
    sign,
    number,
    parts.map(({ text, changed }) => (changed ? `[${text}]` : text)).join(""),
  ]);
  expect(marked).toEqual([
    ["-", 1, "Along the river[, three hours]."],
    ["+", 1, "[# River]"],
    ["+", 2, "[]"],
    ["+", 3, "Along the river."],
  ]);
});
