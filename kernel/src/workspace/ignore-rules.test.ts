import { describe, expect, it } from "vitest";
import { IgnoreRules, patternsOf } from "./ignore-rules.ts";

const hidden = { hidden: true };

/** Returns the rules of the innermost of nested folders, each with the text of its .gitignore. */
function rulesOf(...folders: readonly (readonly [name: string, text: string | null])[]): IgnoreRules {
  let rules: IgnoreRules | null = null;
  for (const [name, text] of folders) rules = new IgnoreRules(rules, name, text, hidden);
  if (rules === null) throw new TypeError("No folder is given.");
  return rules;
}

for (const [what, rules, name, kind, excluded] of [
  ["a pattern at any depth", rulesOf(["", "*.tmp"], ["a", null], ["b", null]), "x.tmp", "file", true],
  ["an anchored pattern, not deeper", rulesOf(["", "/x.tmp"], ["a", null]), "x.tmp", "file", false],
  [
    "a path from the folder of the rules",
    rulesOf(["", "a/b/x"], ["a", null], ["b", null]),
    "x",
    "file",
    true,
  ],
  ["a folder pattern, not a file", rulesOf(["", "build/"]), "build", "file", false],
  ["a folder pattern", rulesOf(["", "build/"]), "build", "folder", true],
  ["a nearer folder's exception", rulesOf(["", "*.tmp"], ["a", "!keep.tmp"]), "keep.tmp", "file", false],
  ["a nearer folder's rule", rulesOf(["", "!x"], ["a", "x"]), "x", "file", true],
  ["case", rulesOf(["", "README"]), "readme", "file", false],
  ["a comment and a blank line", rulesOf(["", "# x\n\n  \n"]), "# x", "file", false],
  ["version control's folder, whatever the rules", rulesOf(["", "!.git"]), ".GIT", "folder", true],
  ["the kernel's folder", rulesOf(["", "!.lares"]), ".lares", "folder", true],
] as const) {
  it(`${what}: ${name} is ${excluded ? "excluded" : "listed"}`, () => {
    expect(rules.excludes(name, kind)).toBe(excluded);
  });
}

it("hides names that begin with a dot unless configured otherwise", () => {
  expect(new IgnoreRules(null, "", null, { hidden: false }).excludes(".env", "file")).toBe(true);
  expect(rulesOf(["", null]).excludes(".env", "file")).toBe(false);
});

describe("a path that is not listed is excluded in any spelling", () => {
  it.each([
    ["another case", "private/", "PRIVATE"],
    ["another case of a pattern", "*.PEM", "key.pem"],
    ["a range", "[A-C]x", "aX"],
    ["another Unicode form", "caf\u00e9", "cafe\u0301"],
    ["another Unicode form of the rule", "cafe\u0301", "caf\u00e9"],
    ["a character that folds", "secret\u017f", "SECRETS"],
    ["a character that some file system passes over", "secret", "sec\u200cret"],
    ["a dot that some file system drops", "secret", "secret."],
  ])("%s: %s, %s", (_what, rule, name) => {
    expect(rulesOf(["", rule]).mayExclude(name)).toBe(true);
    expect(rulesOf(["", rule], ["a", null]).mayExclude(name)).toBe(true);
    expect(rulesOf(["", rule]).mayExclude("other")).toBe(false);
  });
  it.each([
    ["a hidden name", "\u200c.env"],
    ["version control's folder", "\u200c.GIT"],
  ])("%s: %s", (_what, name) => {
    expect(new IgnoreRules(null, "", null, { hidden: false }).mayExclude(name)).toBe(true);
  });
  it("while an exception in another case does not include what git excludes", () => {
    const rules = rulesOf(["", "secret*\n!SECRET.md"]);
    expect(rules.mayExclude("secret.md")).toBe(true);
  });
});

it("lists what git would list: case matters only if the file system distinguishes cases", () => {
  const folding = new IgnoreRules(null, "", "private/", { hidden: true, foldsCase: true });
  expect(folding.excludes("Private", "folder")).toBe(true);
  expect(rulesOf(["", "private/"]).excludes("Private", "folder")).toBe(false);
});

describe("rules beyond the limits exclude at least what they name", () => {
  const long = "x".repeat(600);
  it.each([
    ["too many wildcards", "a/**/b/**/c/**/d/**/e/**/f.key", "a/b/c/d/e/f.key"],
    ["wildcards without folders", "a**b**c**d**e**f", "abcdef"],
    ["a long name", long, long],
    ["a long name in a folder", `a/${long}/x.key`, `a/${long}/x.key`],
    ["a cut behind a backslash", `${"x".repeat(511)}\\?y`, `${"x".repeat(511)}?y`],
    ["a cut within brackets", `${"x".repeat(511)}[ab]`, `${"x".repeat(511)}a`],
    ["a rule behind many others", `${"other\n".repeat(3000)}x.key`, "x.key"],
  ])("%s", (_what, rules, path) => {
    expect(isLeftOut(rulesOf(["", rules]), path)).toBe(true);
  });

  it("while exceptions beyond the limits have no effect", () => {
    expect(isLeftOut(rulesOf(["", `*.key\n!**/**/**/**/**/x.key`]), "x.key")).toBe(true);
    expect(isLeftOut(rulesOf(["", "a/**/b/**/c/**/d/**/e/**/f.key"]), "b/x.md")).toBe(false);
    expect(patternsOf("a\n".repeat(3000))).toHaveLength(2001);
  });
});

/** As in the index: a folder that is excluded excludes its contents. */
function isLeftOut(rules: IgnoreRules, path: string): boolean {
  const names = path.split("/");
  return names.some((_name, at) => {
    const isLast = at === names.length - 1;
    return rules.verdict(`${names.slice(0, at + 1).join("/")}${isLast ? "" : "/"}`) === true;
  });
}

it("still answers after its cache was dropped", () => {
  const rules = rulesOf(["", "*.tmp"]);
  for (let at = 0; at < 20_010; at++) rules.excludes(`${at}.txt`, "file");
  expect([rules.excludes("a.tmp", "file"), rules.excludes("a.txt", "file")]).toEqual([true, false]);
});
