import { describe, expect, it } from "vitest";
import { block, line, summaryOf } from "./text.ts";

describe("a stranger's text", () => {
  it.each([
    ["direction marks are shown by their code", "\u202Egnp.exe", "<U+202E>gnp.exe"],
    ["escapes are shown as pictures", "\u001b[31mred", "␛[31mred"],
    ["line breaks are spaces", "one\r\n\ttwo", "one two"],
    ["markup is text", "<img src=x>", "<img src=x>"],
  ])("%s", (_name, text, shown) => expect(line(text)).toBe(shown));

  it("is cut if it is long, and not within a character", () => {
    expect(line("x".repeat(10_000))).toHaveLength(400);
    expect(line("👩".repeat(400), 4).isWellFormed()).toBe(true);
    expect(block("a\nb")).toBe("a\nb");
  });

  it("says in one line what a value is", () => {
    expect(summaryOf({ path: "a.md" })).toBe("a.md");
    expect(summaryOf({ path: "a.md", size: 2 })).toBe("path: a.md · size: 2");
    expect(summaryOf(undefined)).toBe("undefined");
    expect(summaryOf(null)).toBe("null");
  });
});
