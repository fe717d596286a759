import { maxPathLength } from "../base/vocabulary/bounds.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalPath, foldPath, isWithinExactly, parentOf } from "./paths.ts";

const folded: readonly [input: string, path: string][] = [
  ["photos/a.jpg", "photos/a.jpg"],
  ["./photos/a.jpg", "photos/a.jpg"],
  ["photos//a.jpg", "photos/a.jpg"],
  ["photos/./a.jpg", "photos/a.jpg"],
  ["photos/", "photos"],
  ["photos///", "photos"],
  [".", "."],
  ["./", "."],
  ["-rf", "-rf"],
  ["with space/ü/😀.txt", "with space/ü/😀.txt"],
  ["...a", "...a"],
  ["a..b", "a..b"],
  ["console.txt", "console.txt"],
  ["com10", "com10"],
  ["nullable/auxiliary.md", "nullable/auxiliary.md"],
  ["e\u0301.txt", "e\u0301.txt"],
];

const refused: readonly [input: string, reason: RegExp][] = [
  ["", /empty/],
  ["/etc/passwd", /absolute/],
  ["//server/share", /absolute/],
  ["\\\\server\\share", /backslash/],
  ["photos\\a.jpg", /backslash/],
  ["C:/Windows", /drive/],
  ["c:x", /drive/],
  ["..", /"\.\."/],
  ["../x", /"\.\."/],
  ["a/../../x", /"\.\."/],
  ["a/..", /"\.\."/],
  ["a\0b", /control/],
  ["a\nb", /control/],
  ["a\u007f", /control/],
  ["a.txt:stream", /stream/],
  ["a/b::$DATA", /stream/],
  ["CON", /device/],
  ["a/nul.txt", /device/],
  ["COM1", /device/],
  ["lpt9.log/x", /device/],
  ["com¹", /device/],
  ["CONOUT$", /device/],
  ["aux .txt", /device/],
  ["a. ", /Windows drops/],
  ["a./b", /Windows drops/],
  [".../x", /Windows drops/],
  ["a /b", /Windows drops/],
  ["\ud800", /Unicode/],
  ["x".repeat(maxPathLength + 1), /more than/],
];

describe("canonicalPath", () => {
  test.each(folded)("%j becomes %j", (input, path) => {
    expect(canonicalPath(input)).toEqual({ ok: true, path });
  });

  test.each(refused)("%j is refused", (input, reason) => {
    const result = canonicalPath(input);
    expect(result.ok ? result.path : result.reason).toMatch(reason);
    expect(result.ok).toBe(false);
  });

  const piece = fc.oneof(
    fc.constantFrom(
      "..",
      ".",
      "/",
      "//",
      "\\",
      "C:",
      "a",
      ".git",
      "NUL",
      " ",
      "\0",
      "é",
      "e\u0301",
      "x:y",
      "../",
    ),
    fc.string({ unit: "grapheme", maxLength: 6 }),
  );
  const anyPath = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));

  test("is idempotent", () => {
    fc.assert(
      fc.property(anyPath, (input) => {
        const once = canonicalPath(input);
        if (once.ok) expect(canonicalPath(once.path)).toEqual(once);
      }),
      { numRuns: 2000 },
    );
  });

  test("never leaves the workspace, however it is joined", () => {
    fc.assert(
      fc.property(anyPath, (input) => {
        const result = canonicalPath(input);
        if (!result.ok) return;
        const resolved = new URL(result.path.split("/").map(encodeURIComponent).join("/"), "file:///root/")
          .pathname;
        expect(resolved.startsWith("/root/")).toBe(true);
        expect(result.path).not.toMatch(/^\/|\\|^[A-Za-z]:|(^|\/)\.\.(\/|$)|\0|\/$|\/\//);
      }),
      { numRuns: 2000 },
    );
  });
});

test.each([
  [".", "anything", true],
  ["photos", "photos", true],
  ["photos", "photos/a/b", true],
  ["photos", "photos2/a", false],
  ["photos/a", "photos", false],
])("%j holds %j: %j, in this spelling and in any", (folder, path, within) => {
  expect(isWithinExactly(folder, path)).toBe(within);
  expect(isWithinExactly(foldPath(folder), foldPath(path))).toBe(within);
});

test.each([
  ["caf\u00e9", "cafe\u0301/x"],
  ["Photos", "photos/a"],
  ["photos", "photos./a"],
  ["photos", "pho\u200ctos/a"],
])("a grant of %j does not grant %j, and a restriction of it restricts it", (folder, path) => {
  expect(isWithinExactly(folder, path)).toBe(false);
  expect(isWithinExactly(foldPath(folder), foldPath(path))).toBe(true);
});

test.each([
  [".", null],
  ["a", "."],
  ["a/b/c", "a/b"],
])("parentOf(%j) is %j", (path, parent) => {
  expect(parentOf(path)).toBe(parent);
});
