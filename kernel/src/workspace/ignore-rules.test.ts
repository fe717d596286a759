import { expect, it } from "vitest";
import { IgnoreRules, patternsOf } from "./ignore-rules.ts";

const hidden = { hidden: true };

/** The rules of the innermost of nested folders, each with the text of its .gitignore. */
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
  it(`judges ${what}: ${name} is ${excluded ? "left out" : "listed"}`, () => {
    expect(rules.excludes(name, kind)).toBe(excluded);
  });
}

it("hides names with a dot in front unless told otherwise", () => {
  expect(new IgnoreRules(null, "", null, { hidden: false }).excludes(".env", "file")).toBe(true);
  expect(rulesOf(["", null]).excludes(".env", "file")).toBe(false);
});

it("passes over rules that could take long, and what is beyond the bounds", () => {
  expect(patternsOf(["ok", "a/**/b/**/c/**/d/**/e/**/f", "x".repeat(513)].join("\n"))).toEqual(["ok"]);
  expect(patternsOf("a\n".repeat(3000))).toHaveLength(2000);
});

it("goes on judging after its memory of answers was dropped", () => {
  const rules = rulesOf(["", "*.tmp"]);
  for (let at = 0; at < 20_010; at++) rules.excludes(`${at}.txt`, "file");
  expect([rules.excludes("a.tmp", "file"), rules.excludes("a.txt", "file")]).toEqual([true, false]);
});
