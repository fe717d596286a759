import { applyPatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import { actionLimits } from "./limits.ts";
import { applyEdits, textOf, unifiedDiff } from "./text.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const names = { before: "f", after: "f" };

test.each([
  ["plain", "plain"],
  ["\ufeffwith a mark", "\ufeffwith a mark"],
  ["", ""],
])("textOf keeps %j byte for byte", (text, expected) => {
  expect(textOf(bytes(text))).toBe(expected);
});

test.each([[new Uint8Array([0xff, 0xfe])], [new Uint8Array([0x61, 0])], [new Uint8Array([0xc3])]])(
  "%j is no text",
  (data) => {
    expect(textOf(data)).toBe(null);
  },
);

test("edits apply in order, literally, and all of them where told", () => {
  expect(applyEdits("f", "a.b.c", [{ find: ".", replace: "$&", all: true }])).toBe("a$&b$&c");
  expect(
    applyEdits("f", "one", [
      { find: "one", replace: "two" },
      { find: "two", replace: "three" },
    ]),
  ).toBe("three");
});

test("an edit that would make the file too large is refused before it is made", () => {
  const bomb = { find: "a", replace: "b".repeat(100_000), all: true };
  expect(() => applyEdits("f", "a".repeat(100_000), [bomb])).toThrow(/larger than/);
});

test("a diff makes the one text of the other", () => {
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

test("two large texts without a common line are shown whole, quickly, and still as a diff", () => {
  const lines = (mark: string): string =>
    Array.from({ length: 20_000 }, (_value, at) => `${mark}${at}`).join("\n");
  const [before, after] = [lines("a"), lines("b")];
  const diff = unifiedDiff(names, bytes(before), bytes(after)) ?? "";
  expect(diff).toContain("@@ -1,20000 +1,20000 @@");
  expect(applyPatch(before, diff)).toBe(after);
});

test("sides that are too long or no text have no diff; names stay on their line", () => {
  expect(unifiedDiff(names, bytes("x".repeat(actionLimits.diffTextBytes + 1)), null)).toBe(undefined);
  expect(unifiedDiff(names, new Uint8Array([0]), bytes("x"))).toBe(undefined);
  expect(unifiedDiff({ before: "a\n+++ b/evil", after: "f" }, bytes("x"), bytes("y"))).toMatch(
    /^--- a\/a\?\+\+\+ b\/evil\n\+\+\+ b\/f\n@@/,
  );
});
