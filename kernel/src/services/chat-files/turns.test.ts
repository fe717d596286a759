import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { endOfForeign, isChatFile, lastTurn } from "./turns.ts";

test("a chat file is known by the end of its name", () => {
  expect(isChatFile("file:///a/today.chat.md")).toBe(true);
  expect(isChatFile("file:///a/chat.md")).toBe(false);
  expect(isChatFile("file:///a/today.chat.md.txt")).toBe(false);
});

describe("the last turn", () => {
  const cases: [string, string, string | null][] = [
    ["a heading of the second level", "## You\n\nhello\n", "hello"],
    ["in any case, indented, with closing marks", "   ## yOU  ##  \nhello", "hello"],
    ["above hyphens", "You\n---\nhello", "hello"],
    ["with other line breaks", "## You\r\n\r\nhello\r\nyou\r\n", "hello\r\nyou"],
    ["of several", "## You\none\n## Steward\ntwo\n## You\nthree\n", "three"],
    ["with nothing in it", "## You", ""],
    ["with other headings in it", "## You\n# Plan\n## Steward\n", "# Plan\n## Steward"],
    ["another level", "# You\nhello\n### You\nhello", null],
    ["another name", "## Your plan\nhello\n## You and me\n", null],
    ["without a blank", "##You\nhello", null],
    ["the second line of a paragraph", "thank\nYou\n---\nhello", null],
    ["in code", "```\n## You\nhello\n```", null],
    ["behind code", "```\n## You\n```\n## You\nhello", "hello"],
    ["in longer code", "````\n```\n## You\n````", null],
    ["in code in a list", "- ```\n  ## You\n  ```\n\n## You\nhello", "hello"],
    ["below code that ends with its item", "10. ```\n  ## You\nhello", "hello"],
    ["below code that ends with its quotation", "> ```\n  ## You\nhello", "hello"],
    ["below code whose item has no quotation", "- ```\n> a\n## You\nhello", "hello"],
    ["in code behind tabs", "-\t```\n\n\t## You\n\t```\nhello", null],
    ["in a list or quotation", "- ## You\n> ## You\nhello", null],
    ["as indented code", "    ## You\nhello", null],
    ["in a comment", "<!--\n\n## You\n\nhello\n-->", null],
    ["in a comment that never ends", "## You\none\n<!--\n## You\ntwo", "one\n<!--\n## You\ntwo"],
    ["in raw HTML", "<pre>\n## You\n</pre>\n## You\nhello", "hello"],
    ["behind a comment of one line", "<!-- a -->\n## You\nhello", "hello"],
  ];
  test.each(cases)("%s", (_name, text, expected) => {
    expect(lastTurn(text)?.text ?? null).toBe(expected);
  });

  test("may be the first line behind a byte order mark, and its offsets count the mark", () => {
    const text = "\ufeff## You\nhello\n";
    expect(lastTurn(text)).toEqual({ start: 0, end: 13, text: "hello" });
    expect(text.slice(0, 13).endsWith("hello")).toBe(true);
    expect(lastTurn("\ufeffYou\n---\nhello")).toMatchObject({ start: 0, text: "hello" });
    expect(endOfForeign("\ufeff## You\n\n")).toBe(0);
    expect(endOfForeign("\ufeff")).toBe(0);
    expect(lastTurn("one\n\ufeff## You\nhello")).toBeNull();
  });

  test("begins at an offset or behind it, and never on the rest of a line", () => {
    const text = "## You\none\n## You\ntwo";
    const second = text.lastIndexOf("##");
    expect(lastTurn(text, second)).toEqual({ start: second, end: text.length, text: "two" });
    expect(lastTurn(text, second + 1)).toBeNull();
    expect(lastTurn("wait ## You\ntwo", 5)).toBeNull();
    expect(lastTurn("a\r\n## You\r\ntwo", 2)).toMatchObject({ start: 3, text: "two" });
  });

  test("its offsets are those of the text", () => {
    const word = fc.constantFrom("## You", "You", "---", "hello", "```", "", "\r", "<!--", "-->", "- a");
    fc.assert(
      fc.property(fc.array(word), fc.nat(60), (lines, from) => {
        const text = lines.join("\n");
        const turn = lastTurn(text, Math.min(from, text.length));
        if (turn === null) return;
        expect(turn.start).toBeGreaterThanOrEqual(Math.min(from, text.length));
        expect(text.slice(turn.start)).toMatch(/^(?: {0,3}## You|You)/);
        expect(text.slice(0, turn.end).endsWith(turn.text)).toBe(true);
        expect(text.slice(turn.end).trim()).toBe("");
      }),
    );
  });
});

test("what was in a file ends with its text, but for an empty turn that the person is to fill in", () => {
  expect(endOfForeign("")).toBe(0);
  expect(endOfForeign("\n\n")).toBe(0);
  expect(endOfForeign("# Talk\n\n## You\n\n")).toBe("# Talk\n\n".length);
  expect(endOfForeign("## You\n\nhello\n\n")).toBe("## You\n\nhello".length);
  // A character that nobody sees is one that somebody wrote.
  expect(endOfForeign("## You\n\u200b\n")).toBe("## You\n\u200b".length);
});

test("a large text without an end costs no more than its length", () => {
  const lines = "`".repeat(20_000) + "\n" + "<!--\n".repeat(200_000) + "> ".repeat(200_000);
  expect(lastTurn(lines)).toBeNull();
  expect(
    lastTurn(`${"- ".repeat(100_000)}\`\`\`\n${"\n".repeat(200_000)}${"  ".repeat(100_000)}`),
  ).toBeNull();
});

test.each([" ", "\t", " #", "#", "#\u2028", "\u2028", "`"])(
  "a heading with a million of %j costs no more than its length",
  (mark) => {
    const marks = mark.repeat(1_000_000);
    for (const line of [`##${marks}\u2028`, `## You${marks}\u2028x`, `\`\`\`${marks}\u2028\``])
      expect(lastTurn(`${line}\n`)).toBeNull();
  },
);

test.each(["## You", "##  you\t##", " ## YOU   ", "## You #"])("%j begins a turn", (line) => {
  expect(lastTurn(`${line}\nHello`)?.text).toBe("Hello");
});

test.each(["##You", "### You", "## You#", "    ## You", "## You\u2028and I", "## You ##\u00a0#x"])(
  "%j begins no turn",
  (line) => {
    expect(lastTurn(`${line}\nHello`)).toBeNull();
  },
);

test("a separator of Unicode ends no line", () => {
  expect(lastTurn("## You\nOne\u2028## You\u2029two")?.text).toBe("One\u2028## You\u2029two");
});
