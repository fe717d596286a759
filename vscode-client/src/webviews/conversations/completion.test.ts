import { describe, expect, it } from "vitest";
import { commandIn, fitting, moved, tokenAt, withoutToken } from "./completion.ts";

describe("what is completed", () => {
  it.each([
    ["a file at the beginning", "@wal", { kind: "file", text: "wal", start: 0, end: 4 }],
    ["a file behind a word", "see @notes/w", { kind: "file", text: "notes/w", start: 4, end: 12 }],
    ["a command", "/ti", { kind: "command", text: "ti", start: 0, end: 3 }],
    ["no address", "me@example", undefined],
    ["no command in the middle", "and /ti", undefined],
    ["nothing behind a blank", "@a b", undefined],
  ])("%s", (_name, text, expected) => expect(tokenAt(text, text.length)).toEqual(expected));

  it("is only what stands before the cursor", () => expect(tokenAt("@walks", 3)?.text).toBe("wa"));

  it("leaves the rest of the text", () => {
    const text = "see @wa please";
    expect(withoutToken(text, tokenAt(text, 7)!)).toBe("see please");
  });
});

it("a draft is a command only if there is one of that name", () => {
  const known = [{ name: "tidy" }];
  expect(commandIn("/tidy the notes", known)).toEqual({ name: "tidy", text: "the notes" });
  expect(commandIn("/tidy", known)).toEqual({ name: "tidy", text: "" });
  expect(commandIn("/etc/passwd", known)).toBeUndefined();
  expect(commandIn("tidy", known)).toBeUndefined();
});

it("a menu wraps around at its ends", () => {
  expect([moved(0, -1, 3), moved(2, 1, 3), moved(1, 1, 3), moved(0, 1, 0)]).toEqual([2, 0, 2, 0]);
});

it("paths that do not fit what is written now are not offered, and names come first", () =>
  expect(fitting(["lares.yaml", "walks/a.md", "notes/riverwalk.md", "notes/Walks.md"], "walk")).toEqual([
    "walks/a.md",
    "notes/Walks.md",
    "notes/riverwalk.md",
  ]));
