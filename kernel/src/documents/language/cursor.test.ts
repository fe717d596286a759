import fc from "fast-check";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { DocumentFormat } from "../text/source.ts";
import type { CursorContext } from "./cursor.ts";
import { nodeAt } from "./reading.ts";
import { cursorContext, readLeniently } from "./testing/read-at-once.ts";

/** `|` is the cursor. */
function at(source: string, format: DocumentFormat): CursorContext | null {
  const offset = source.indexOf("|");
  return cursorContext(source.slice(0, offset) + source.slice(offset + 1), offset, format);
}

/** `part pointer "what stands before the cursor" siblings`, and what else is special. */
function shown(source: string, format: DocumentFormat): string | null {
  const context = at(source, format);
  if (context === null) return null;
  const { part, pointer, siblings, needsDash, statement, spot } = context;
  return [
    part,
    pointer || "/",
    JSON.stringify(spot.before),
    ...(siblings.length === 0 ? [] : [`beside ${siblings.join(",")}`]),
    ...(needsDash ? ["needs dash"] : []),
    ...(spot.needsSpace ? ["needs space"] : []),
    ...(statement === null || statement === "pair" ? [] : [statement]),
  ].join(" ");
}

describe("where the cursor is in YAML", () => {
  test.each<[string, string, string | null]>([
    ["an empty document", "|", 'key / ""'],
    ["a first word", "ext|", 'key / "ext"'],
    ["behind a byte order mark", "\ufeff|", 'key / ""'],
    ["beneath a key", "extension:\n  |", 'either /extension ""'],
    ["behind `key:`", "kernel:\n  linger: |", 'value /kernel/linger ""'],
    ["right behind the colon", "kernel:\n  linger:|", 'value /kernel/linger "" needs space'],
    ["behind a dash", "extensions:\n  - |", 'either /extensions/0 ""'],
    ["right behind the dash", "extensions:\n  -|", 'either /extensions/0 "" needs space'],
    ["in a dash's word", "a:\n  allow:\n    - re|\n", 'either /a/allow/0 "re"'],
    ["a half-typed key between lines", "e:\n  id: x\n  na|\n  version: 1", 'key /e "na" beside id,version'],
    ["the same before a map", "e:\n  perm|\n    read: true\n", 'key /e "perm"'],
    ["a blank line between keys", "e:\n  id: x\n  |\n  version: 1\n", 'key /e "" beside id,version'],
    ["back at the margin", "e:\n  id: x\n|", 'key / "" beside e'],
    ["further in than anything", "e:\n  id: x\n    |", null],
    ["in an item of a list", "h:\n  - on: x\n    fi|\n    handler: y", 'key /h/0 "fi" beside on,handler'],
    ["where the next item begins", "h:\n  - on: x\n  |", 'either /h/1 "" needs dash'],
    ["a nested list", "a:\n  - b:\n      - c: [x, |]", 'value /a/0/b/0/c/1 ""'],
    ["in a flow map", "a: { | }", 'key /a ""'],
    ["a flow map's key", "a: { on: x, fi| }", 'key /a "fi" beside on'],
    ["a flow map's value", "a: { on: Ent|, b: 1 }", 'value /a/on "Ent"'],
    ["a flow map that is not closed", "h:\n  - { on: x, fi|\nt: 1", 'key /h/0 "fi" beside on'],
    ["a flow list over lines", "a: [\n  x,\n  |\n]", 'value /a/1 ""'],
    ["in double quotes", 'a: "x|y"', 'value /a "x"'],
    ["with escapes before it", String.raw`a: "x == \"|"`, String.raw`value /a "x == \""`],
    ["in single quotes", "a: 'it''s |'", `value /a "it's "`],
    ["in quotes that are not closed", 'a: "x|\nb: 1', 'value /a "x"'],
    ["beneath quotes that are not closed", 'e:\n  a: "x\n  |\n  b: "y"\n', 'key /e "" beside a,b'],
    ["beneath the last of the quotes", "e:\n  a: 'x\n  na|\n", 'key /e "na" beside a'],
    ["beneath a flow map that is not closed", "e:\n  h:\n    - { on: x\n  |", 'key /e "" beside h'],
    [
      "an item's place between items and more",
      "h:\n  - on: x\n\n  |\n\nt: []\n",
      'either /h/1 "" needs dash',
    ],
    ["in a quoted key", '"na|": x', 'key / "na"'],
    ["behind closed quotes", 'a: "x"|', null],
    ["in a folded block", "a: >-\n  one\n  tw|o", 'value /a "one tw"'],
    ["behind a block, at the margin", "a: >\n  one\n|", 'key / "" beside a'],
    ["in a value of several lines", "a: one\n  tw|", 'value /a "one tw"'],
    ["in a comment", "# |", null],
    ["in a comment behind a value", "a: b # c|", null],
    ["behind a value", "a: 1 |", null],
    ["in an alias", "a: &x 1\nb: *x|", null],
    ["behind an anchor", "a: &x |", 'value /a ""'],
    ["in an anchored map", "a: &x\n  b: 1\n  |\nc: *x", 'key /a "" beside b'],
    ["CRLF", "kernel:\r\n  lin|\r\ntrace: {}\r\n", 'either /kernel "lin"'],
    ["beyond the ASCII", "é: 1\n日本: ü|", 'value /日本 "ü"'],
    ["behind an emoji", 'a: "😀|"', 'value /a "😀"'],
  ])("%s", (_name, source, expected) => {
    expect(shown(source, "yaml")).toBe(expected);
  });
});

describe("where the cursor is in TOML", () => {
  test.each<[string, string, string | null]>([
    ["an empty document", "|", 'key / ""'],
    ["a first word", "ext|", 'key / "ext"'],
    ["in a table", "[extension]\n|", 'key /extension ""'],
    ["a half-typed key between lines", "[e]\nid = 1\nna|\nv = 2", 'key /e "na" beside id,v'],
    ["in a list of tables", "[[e.hooks]]\non = 1\n[[e.hooks]]\nfi|", 'key /e/hooks/1 "fi"'],
    ["behind `key =`", "[[e.hooks]]\non = |", 'value /e/hooks/0/on ""'],
    ["right behind the sign", "on =|", 'value /on "" needs space'],
    ["in a string", 'on = "Ent|"', 'value /on "Ent"'],
    ["with escapes before it", String.raw`a = "x == \"|"`, String.raw`value /a "x == \""`],
    ["in a literal string", "on = 'Ent|'", 'value /on "Ent"'],
    ["in a string of several lines", 'a = """\none\ntw|o"""', 'value /a "\\none\\ntw"'],
    ["in a string that is not closed", 'on = "Ent|\nfilter = "x"', 'value /on "Ent"'],
    ["a word without quotes", "on = Ent|", 'value /on "Ent"'],
    ["in an empty header", "[|", 'key / "" header'],
    ["in a header", "[extension.|]", 'key /extension "" header'],
    ["in a header of a list", "[[extension.ho|]]", 'key /extension "ho" list-header'],
    ["in a table of a list of tables", "[[e]]\nid = 1\n[e.grants]\nal|", 'key /e/0/grants "al"'],
    ["a dotted key", "permissions.wr| = 1", 'key /permissions "wr"'],
    ["behind the dot", "a.|", 'key /a ""'],
    ["an inline table's key", 'h = [{ on = "x", fi| }]', 'key /h/0 "fi" beside on'],
    ["an inline table that is not closed", 'h = [{ on = "|', 'value /h/0/on ""'],
    ["a list over lines", 'a = [\n  "x",\n  |\n]', 'value /a/1 ""'],
    ["a list that is not closed", "a = [\n  |\n\n[b]\nc = 1", 'value /a/0 ""'],
    ["after what is not closed", "a = [1,\nb = {\n[c]\n|", 'key /c ""'],
    ["a dead line above", "[e]\n= = ]\nna|", 'key /e "na"'],
    ["in a comment", "a = 1 # |", null],
    ["behind a value", "a = 1 |", null],
    ["behind closed quotes", 'a = "x"|', null],
    ["CRLF", "[kernel]\r\nlin|\r\n[trace]\r\n", 'key /kernel "lin"'],
    ["beyond the ASCII", '"é" = 1\n"日本" = "ü|"', 'value /日本 "ü"'],
  ])("%s", (_name, source, expected) => {
    expect(shown(source, "toml")).toBe(expected);
  });
});

test("the text beside the cursor can be read, even if the rest is broken", () => {
  const yaml = at("e:\n  hooks:\n    - on: EntryMoved\n      filter: |\n  tools: [", "yaml");
  expect(yaml?.document).toMatchObject({ e: { hooks: [{ on: "EntryMoved" }] } });
  const toml = at('[e]\nx = [\n[[e.hooks]]\non = "EntryMoved"\nfilter = "|\n[e.tools', "toml");
  expect(toml?.document).toMatchObject({ e: { hooks: [{ on: "EntryMoved" }] } });
});

const fixtures = (["yaml", "toml"] as const).map((format) => ({
  format,
  text: readFileSync(new URL(`../fixtures/photos-${format}/extension.${format}`, import.meta.url), "utf8"),
}));

/** What an editor may rely on, wherever the cursor is. */
function expectSound(text: string, offset: number, format: DocumentFormat): void {
  const context = cursorContext(text, offset, format);
  if (context === null) return;
  const { start, end } = context.spot;
  expect(start).toBeLessThanOrEqual(offset);
  expect(end).toBeGreaterThanOrEqual(offset);
  expect(end).toBeLessThanOrEqual(text.length);
  expect(text.slice(start, end)).not.toContain("\n");
}

describe.each(fixtures)("$format", ({ text, format }) => {
  test("at every offset of a manifest the word is on the cursor's line", () => {
    for (let offset = 0; offset <= text.length; offset++) expectSound(text, offset, format);
  });

  test("the same if the text ends at the cursor", () => {
    for (let offset = 0; offset <= text.length; offset += 3)
      expectSound(text.slice(0, offset), offset, format);
  });

  test("the same in whatever becomes of it", () => {
    const pieces = [
      "\n",
      "\r\n",
      '"',
      "'",
      "[",
      "]",
      "{",
      "}",
      ":",
      "=",
      "- ",
      "#",
      "|",
      "&a ",
      "*a",
      "\t",
      "é",
      "\ue0c5",
      "\u0018",
      "\0",
    ];
    const edit = fc.record({
      at: fc.nat(text.length),
      remove: fc.nat(40),
      insert: fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 5 })),
    });
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 6 }), fc.nat(), (edits, somewhere) => {
        const changed = edits.reduce(
          (current, { at, remove, insert }) => current.slice(0, at) + insert + current.slice(at + remove),
          text,
        );
        expectSound(changed, somewhere % (changed.length + 1), format);
        const reading = readLeniently(changed, format);
        if (reading !== null) nodeAt(reading.root, somewhere % (changed.length + 1));
      }),
      { numRuns: 300 },
    );
  });
});

test("documents beyond the limits are answered with null", () => {
  expect(cursorContext("a: 1\n".repeat(300_000), 3, "yaml")).toBeNull();
  expect(cursorContext("[".repeat(10_000), 5000, "yaml")).toBeNull();
  expect(cursorContext(`a = ${"[".repeat(10_000)}`, 5000, "toml")).toBeNull();
  expect(cursorContext("a = 1\n".repeat(40_000), 3, "toml")).toBeNull();
});
