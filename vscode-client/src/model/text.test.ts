import { describe, expect, it } from "vitest";
import { cut, pageLabel } from "../webviews/shared/label.ts";
import { count, label, message, when } from "./text.ts";

describe("label", () => {
  it.each([
    ["control codes", "a\u001b[31mred", "a␛[31mred"],
    ["direction marks", "abc\u202ecod.exe", "abc<U+202E>cod.exe"],
    ["line breaks", "one\r\n  two\n", "one␍␊  two␊"],
    ["blanks at the end", "a.md ", "a.md␠"],
    ["tabs", "a\tb", "a⇥   b"],
    ["icons of the editor", "$(check) fine", "$<U+0028>check) fine"],
    ["links to commands", "[a](command:x)", "[a]<U+0028>command:x)"],
  ])("makes %s harmless and visible", (_name, text, shown) => {
    expect(label(text)).toBe(shown);
  });

  it("cuts between characters as people see them", () => {
    const family = "👨‍👩‍👧‍👦";
    expect(cut(family.repeat(3), family.length + 2)).toBe(`${family}…`);
    expect(cut("abc", 3)).toBe("abc");
    expect(cut(`${"x".repeat(500)}${family}y`, 500 + family.length)).toBe(`${"x".repeat(500)}…`);
    const stacked = `a${"\u0301".repeat(500)}`;
    expect(cut(stacked, 100).length).toBeLessThanOrEqual(100);
    expect(label("x".repeat(500)).length).toBeLessThanOrEqual(128);
  });
});

it("a message has no links and no icons", () => {
  expect(message("[Approve](command:lares.approve)")).not.toContain("](");
  expect(message("$(check) fine")).not.toContain("$(");
});

it("long names that begin alike, or end alike, are distinguishable, and a page cuts them like a list", () => {
  const long = "x".repeat(400);
  expect(label(`${long}.a`)).not.toBe(label(`${long}.b`));
  expect(label(`a.${long}`)).not.toBe(label(`b.${long}`));
  expect(label(`${long}.a`)).toHaveLength(128);
  expect(label("x".repeat(128))).toBe("x".repeat(128));
  expect(pageLabel(`a${"\n".repeat(3)}${long}.b`, 20)).toBe("a␊␊␊xxxxxx…xxxxxxx.b");
  const family = "👨‍👩‍👧‍👦";
  expect(label(family.repeat(40), 40)).toMatch(new RegExp(`^(${family})+…(${family})+$`));
});

it("a message is one line, and a name in it is complete", () => {
  expect(message("one\n\n  two\n")).toBe("one two");
  expect(label("שלום\n")).toBe("\u2068שלום␊\u2069");
  expect(message(`${message("שלום")} failed.`)).toBe("\u2068שלום failed.\u2069");
  expect(message("\u2068a\u202eb\u2069")).toBe("<U+2068>a<U+202E>b<U+2069>");
});

it("amounts agree with their nouns", () => {
  expect([count(0, "event"), count(1, "event"), count(1234, "event")]).toEqual([
    "0 events",
    "1 event",
    "1,234 events",
  ]);
  expect(count(2, "entry", "entries")).toBe("2 entries");
});

it.each([
  [0, "just now"],
  [-59_000, "just now"],
  [30_000, "in less than a minute"],
  [-60_000, "1 minute ago"],
  [5 * 60_000, "in 5 minutes"],
  [-3 * 3_600_000, "3 hours ago"],
  [24 * 3_600_000, "tomorrow"],
])("a time %i ms away is said as %s", (away, text) => {
  const now = 1_800_000_000_000;
  expect(when(new Date(now + away).toISOString(), now)).toBe(text);
});

it("an invalid time is an empty text", () => {
  expect(when("soon", 0)).toBe("");
});

it("a right-to-left part of a message is isolated", () => {
  expect(`“${message("שלום")}”: ${message("3 changes")}`).toBe("“\u2068שלום\u2069”: 3 changes");
});
