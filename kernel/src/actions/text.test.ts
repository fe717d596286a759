import { applyPatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import { actionLimits } from "./limits.ts";
import { applyEdits, type Edit, textOf, unifiedDiff } from "./text.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const edited = (text: string, edits: readonly Edit[]): string | null =>
  textOf(applyEdits("f", bytes(text), edits));
const names = { before: "f", after: "f" };

test.each([
  ["plain", "plain"],
  ["\ufeffwith a mark", "\ufeffwith a mark"],
  ["", ""],
])("textOf keeps %j byte for byte", (text, expected) => {
  expect(textOf(bytes(text))).toBe(expected);
});

test.each([[new Uint8Array([0xff, 0xfe])], [new Uint8Array([0x61, 0])], [new Uint8Array([0xc3])]])(
  "%j is not text",
  (data) => {
    expect(textOf(data)).toBe(null);
  },
);

test("edits apply in order and literally, to every occurrence with all", () => {
  expect(edited("a.b.c", [{ find: ".", replace: "$&", all: true }])).toBe("a$&b$&c");
  expect(
    edited("one", [
      { find: "one", replace: "two" },
      { find: "two", replace: "three" },
    ]),
  ).toBe("three");
});

test("edits give the same result as replacing the text", () => {
  const text = fc
    .array(fc.constantFrom("a", "b", "aa", "é", "😀"), { maxLength: 30 })
    .map((all) => all.join(""));
  const edit = fc.record({ find: text.filter((find) => find !== ""), replace: text, all: fc.boolean() });
  fc.assert(
    fc.property(text, fc.array(edit, { maxLength: 3 }), (before, edits) => {
      let expected: string | null = before;
      for (const { find, replace, all } of edits) {
        const count: number = (expected ?? "").split(find).length - 1;
        expected =
          count === 0 || (count > 1 && !all) ? null : (expected ?? "").replaceAll(find, () => replace);
        if (expected === null) break;
      }
      if (expected === null) expect(() => edited(before, edits)).toThrow(/does not occur|occurs \d+ times/);
      else expect(edited(before, edits)).toBe(expected);
    }),
  );
});

test("an edit that would make the file too large is refused before it is made", () => {
  const bomb = { find: "a", replace: "b".repeat(100_000), all: true };
  expect(() => edited("a".repeat(100_000), [bomb])).toThrow(/larger than/);
});

test("edits that double the text are refused as soon as the result is too large, in memory linear in the file", () => {
  const doublings = Array.from({ length: 1000 }, () => ({ find: "a", replace: "aa", all: true }));
  const before = process.memoryUsage().arrayBuffers;
  expect(() => edited("a", doublings)).toThrow(/Edit 26 .* larger than/);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * actionLimits.previewFileBytes);
});

test("too many edits of a large file are refused before the first one", () => {
  const half = bytes(`${"x".repeat(actionLimits.editedBytes / 1000)}yy`);
  const edits = Array.from({ length: 1000 }, () => ({ find: "absent", replace: "" }));
  expect(() => applyEdits("f", half, edits)).toThrow(/1000 edits .* would search \d+ bytes/);
});

test("an unpaired surrogate is found in no text", () => {
  expect(() => edited("\ufffd", [{ find: "\ud83d", replace: "" }])).toThrow(/valid Unicode/);
});

test("a diff turns one text into the other", () => {
  const text = fc
    .array(fc.constantFrom("a", "b", "c", "", "d\r"), { maxLength: 12 })
    .map((lines) => lines.join("\n"));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const diff = unifiedDiff(names, bytes(before), bytes(after));
      expect(diff === undefined ? undefined : applyPatch(before, diff)).toBe(after);
    }),
  );
});

test("if too much differs, the diff replaces everything from the first to the last differing line", () => {
  const lines = (mark: string): string =>
    Array.from({ length: 3000 }, (_value, at) => `${mark}${at}\n`).join("");
  const around = Array.from({ length: 20 }, (_value, at) => `same ${at}\n`).join("");
  const [before, after] = [`${around}${lines("a")}${around}`, `${around}${lines("b")}${around}end`];
  const diff = unifiedDiff(names, bytes(before), bytes(after)) ?? "";
  expect(diff).toContain("@@ -17,3024 +17,3025 @@");
  expect(applyPatch(before, diff)).toBe(after);
});

test("two large texts without a common line are shown in full, as a valid diff", () => {
  const lines = (mark: string): string =>
    Array.from({ length: 20_000 }, (_value, at) => `${mark}${at}`).join("\n");
  const [before, after] = [lines("a"), lines("b")];
  const diff = unifiedDiff(names, bytes(before), bytes(after)) ?? "";
  expect(diff).toContain("@@ -1,20000 +1,20000 @@");
  expect(applyPatch(before, diff)).toBe(after);
});

test("sides that are too long or not text have no diff; names stay on their line", () => {
  expect(unifiedDiff(names, bytes("x".repeat(actionLimits.diffTextBytes + 1)), null)).toBe(undefined);
  expect(unifiedDiff(names, new Uint8Array([0]), bytes("x"))).toBe(undefined);
  expect(unifiedDiff({ before: "a\n+++ b/evil", after: "f" }, bytes("x"), bytes("y"))).toMatch(
    /^--- a\/a\?\+\+\+ b\/evil\n\+\+\+ b\/f\n@@/,
  );
});
