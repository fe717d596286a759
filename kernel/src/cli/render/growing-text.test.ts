import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HOSTILE_PIECES } from "../../../../test/support/hostile-text.ts";
import { GrowingText } from "./growing-text.ts";
import { renderMarkdown } from "./markdown.ts";
import { noStyle } from "./style.ts";

const surface = { style: noStyle, width: 24 };

function grown(pieces: readonly string[]): readonly string[] {
  const text = new GrowingText(surface, "markdown");
  for (const piece of pieces) {
    text.add(piece);
    // Lays out what is there, as a frame does.
    expect(text.lines.length).toBeGreaterThanOrEqual(0);
  }
  return text.lines.slice(0, text.lines.length);
}

const words = [
  "word ",
  "a",
  "  ",
  "\n",
  "\n\n",
  "- ",
  "1. ",
  "> ",
  "# ",
  "```\n",
  "| a | b |\n",
  "|---|---|\n",
];
const marks = [
  "**",
  "`",
  "    ",
  "---\n",
  "<div>",
  "\r\n",
  "\t",
  "\u{1f469}\u200d\u{1f467}",
  "longword".repeat(5),
];
/** The parser does not agree with itself about vertical tabs and form feeds. */
const hostile = Object.values(HOSTILE_PIECES).filter((text) => !/[\v\f]/.test(text));
const piece = fc.constantFrom(...words, ...marks, ...hostile);

describe("a text that grows", () => {
  test("is laid out as all of it would be, wherever its pieces end", () => {
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 40 }), (pieces) => {
        // A piece that is under way, as half of a character, is not shown yet.
        expect(grown([...pieces, "\n\nend"])).toEqual(renderMarkdown(`${pieces.join("")}\n\nend`, surface));
      }),
      { numRuns: 500 },
    );
  });
});
