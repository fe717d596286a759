import fc from "fast-check";
import picomatch from "picomatch";
import { describe, expect, test } from "vitest";
import { compileGlob, globLimits, type GlobOptions } from "./glob.ts";

function matches(pattern: string, path: string, options?: GlobOptions): boolean {
  const glob = compileGlob(pattern, options);
  if (!glob.ok) throw new Error(glob.message);
  return glob.matches(path);
}

describe("what a pattern matches", () => {
  const cases: [pattern: string, matching: string[], others: string[], options?: GlobOptions][] = [
    ["*.jpg", ["a.jpg", ".jpg", ".hidden.jpg"], ["a/b.jpg", "a.JPG", "a.jpgx"]],
    ["*.{jpg,png}", ["a.jpg", "a.png"], ["a.gif", "a.jpg,png"]],
    ["photos/**", ["photos/a", "photos/a/b/.c"], ["photos", "photosx/a", "x/photos/a"]],
    ["**/b", ["b", "a/b", "a/c/b"], ["a/bb", "ab"]],
    ["a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["a/xb", "ab"]],
    ["**", ["a", "a/b", ".x/y"], []],
    // A pattern for a folder's contents does not match the folder.
    ["x/**/*", ["x/a", "x/a/b", "x/.a"], ["x", "xa"]],
    ["*/**/*", ["a/b", "a/b/c"], ["a"]],
    ["{a,b/c}/**/*b", ["a/b", "b/c/d/xb"], ["a", "b/c", "b"]],
    ["[ab]/**/.*", ["a/.x", "b/c/.x"], ["a", "a/x"]],
    ["?.txt", ["a.txt", "é.txt"], ["ab.txt", "/.txt"]],
    ["[a-c]x", ["ax", "cx"], ["dx", "/x"]],
    ["[!a-c]x", ["dx"], ["ax", "/x"]],
    ["[^a]x", ["bx"], ["ax"]],
    ["photo (1).jpg", ["photo (1).jpg"], ["photo 1.jpg"]],
    ["a+b@c!d$e^f|g", ["a+b@c!d$e^f|g"], ["aab@c!d$e^f|g"]],
    ["\\*.md", ["*.md"], ["a.md"]],
    ["!(a)", ["!(a)"], ["b", "a"]],
    ["{a,b/{c,d}}", ["a", "b/c", "b/d"], ["b", "c"]],
    ["line\nbreak*", ["line\nbreak\n."], []],
    ["*.JPG", ["dir.jpg", "x.JpG"], ["x.png"], { ignoreCase: true }],
    ["*.jpg", ["a.jpg", "deep/er/a.jpg"], ["deep/er/a.png"], { matchBase: true }],
    ["x/*.jpg", ["x/a.jpg"], ["y/x/a.jpg"], { matchBase: true }],
    ["caf\u00e9", ["cafe\u0301"], ["cafe"]],
    ["'quoted'*", ["'quoted'.txt"], ["quoted.txt"]],
  ];
  for (const [pattern, matching, others, options] of cases) {
    test(`${JSON.stringify(pattern)} ${JSON.stringify(options ?? {})}`, () => {
      for (const path of matching) expect(matches(pattern, path, options), path).toBe(true);
      for (const path of others) expect(matches(pattern, path, options), path).toBe(false);
    });
  }
});

describe("what is refused, with a reason", () => {
  const cases: [pattern: string, reason: RegExp][] = [
    ["", /empty/],
    ["a".repeat(globLimits.length + 1), /1025 characters/],
    ["{1..9}", /brace range/],
    ["x{a,{b..d}}", /brace range/],
    ["{a,b}".repeat(7), /128 alternatives/],
    [`{${Array.from({ length: 65 }, (_, n) => `n${n}`).join(",")}}`, /65 alternatives/],
    ["{a,b", /not closed/],
    ["a}", /not opened/],
    ["[a", /not closed/],
    ["[a/b]", /inside \[ \]/],
    ["photos\\", /backslash/],
  ];
  for (const [pattern, reason] of cases) {
    test(JSON.stringify(pattern.slice(0, 40)), () => {
      const glob = compileGlob(pattern);
      expect(glob.ok ? "compiled" : glob.message).toMatch(reason);
    });
  }
  test("64 alternatives are allowed", () => {
    expect(matches("{a,b}".repeat(6), "ababab")).toBe(true);
  });
});

test("patterns made to backtrack take no longer than their neighbours", () => {
  const subject = "a".repeat(4000);
  for (const pattern of [
    `${"*a".repeat(400)}b`,
    `${"**/*a".repeat(150)}b`,
    `${"{a,aa}*".repeat(6)}b`,
    `${"[a-b]*".repeat(150)}!`,
    `${"**/".repeat(300)}b`,
  ]) {
    // A backtracking engine never finishes the first of these.
    expect(matches(pattern, subject), pattern.slice(0, 20)).toBe(false);
  }
});

const reference = {
  dot: true,
  noextglob: true,
  nonegate: true,
  strictSlashes: true,
  posix: true,
  // A shortcut of picomatch lets "**.x" cross slashes, which "**" does only as a whole component.
  fastpaths: false,
};
const canonical = (text: string): boolean =>
  !text.includes("//") && !text.startsWith("/") && !/(^|\/)\.{1,2}(\/|$)/.test(text);
const name = fc.stringMatching(/^[abx.]{1,4}$/).filter((text) => text !== "." && text !== "..");
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
// Compiling costs more than matching.
const paths = fc.array(path, { minLength: 20, maxLength: 40 });
const piece = fc.constantFrom("a", "b", ".", "*", "**", "?", "/", "/**/", "[ab]", "[!b]", "{a,b}", "x");

test("agrees with picomatch on canonical paths", () => {
  const pattern = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(pattern.filter(canonical), paths, (text, subjects) => {
      const [glob, expected] = [compileGlob(text), picomatch(text, reference)];
      for (const subject of subjects)
        expect(glob.ok && glob.matches(subject), subject).toBe(expected(subject));
    }),
    { numRuns: 800 },
  );
});

test("agrees with picomatch's own expression for any braces, but for its guard of a dot within a name", () => {
  const parts = fc.letrec<{ text: string; braces: string }>((tie) => ({
    text: fc
      .array(fc.oneof({ depthSize: "small" }, { weight: 6, arbitrary: piece }, tie("braces")), {
        maxLength: 5,
      })
      .map((pieces) => pieces.join("")),
    braces: fc.array(tie("text"), { minLength: 2, maxLength: 3 }).map((each) => `{${each.join(",")}}`),
  }));
  fc.assert(
    fc.property(parts.text, paths, (text, subjects) => {
      const glob = compileGlob(text);
      fc.pre(glob.ok);
      const { source } = picomatch.makeRe(text, reference);
      // In braces, picomatch takes the dot of "a{.*,b}" for the beginning of a name, and refuses "a." for it.
      const expected = new RegExp(
        source.replaceAll(/\(\?!\\\.\{0,1\}\(\?:\\\/\|\$\)\)(?:\(\?=\.\))?/g, ""),
        "s",
      );
      for (const subject of subjects)
        expect(glob.ok && glob.matches(subject), subject).toBe(expected.test(subject));
    }),
    { numRuns: 400 },
  );
});
