import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { agentHeading, answerMarkdown, maxAnswerCharacters, remark } from "./answer-markdown.ts";
import { personInsertion, turnInsertion } from "./insertions.ts";
import { lastTurn } from "./turns.ts";

describe("an answer in a file", () => {
  const cases: [string, string, string][] = [
    ["plain text stays", "One *two* `three`\n\n- a\n- b", "One *two* `three`\n\n- a\n- b"],
    ["headings are two levels deeper", "# a\n## You\n##### b", "### a\n#### You\n###### b"],
    ["headings above lines too", "a\n===\n\nYou\n---", "### a\n\n#### You"],
    ["a line below a list is no heading", "- a\n---\n| b |\n---", "- a\n\n---\n| b |\n\n---"],
    [
      "headings in quotations and lists too",
      "> # a\n- b\n  > You\n  > ---",
      "> ### a\n- b\n  > You\n\n  > ---",
    ],
    ["and where others may read code", "10. a\n    # b", "10. a\n    ### b"],
    ["code stays", "```md\n# a\n<b>\n    ```\n```\nc", "```md\n# a\n<b>\n    ```\n```\nc"],
    ["code without an end gets one", "~~~~\n## You", "~~~~\n## You\n~~~~"],
    [
      "code in a list begins at the start of a line",
      "1. a\n   ```md\n   <b>\n     # c\n   ```\n   d\n2. e",
      "1. a\n```md\n<b>\n  # c\n```\nd\n2. e",
    ],
    ["also on the item's own line", "a\n- ```\n  <b>\n  ```\n- c", "a\n```\n<b>\n```\n- c"],
    ["but is text in a quotation", "> ```\n> <b>\n> ```", "> ```\n> < b>\n> ```"],
    ["images and HTML are shown as text", "![a](b) <b>c</b> <!-- d", "! [a](b) < b>c< /b> < !-- d"],
    ["however they are escaped", "\\![a](b) \\\\<b>", "\\! [a](b) \\\\< b>"],
    [
      "but not in code that all read alike",
      "`<b>` ``![]``, (`Map<a>`) 1 < 2 [`<c>`](d)",
      "`<b>` ``![]``, (`Map<a>`) 1 < 2 [`<c>`](d)",
    ],
    ["code with an unclear end", "`a` `\n`<b>`", "`a` `\n`< b>`"],
    ["code behind an address", "http://a/`b `c` <d> `e", "http://a/`b `c` < d> `e"],
    ["code in cells", "a|b\n-|-\n`a|b` `<b>`|`", "a|b\n-|-\n`a|b` `< b>`|`"],
    ["mathematics in one paragraph", "$$\n<a\n$$ $$b$$", "$$\n< a\n$$ $$b$$"],
    ["mathematics that would end in code", "$$\n\n```\n$$\n<b>\n```", "$ $\n\n```\n$$\n<b>\n```"],
    ["characters that break lines or are unseen are shown", "a\rb\u2028c\u202ed", "a␍b<U+2028>c<U+202E>d"],
  ];
  test.each(cases)("%s", (_name, answer, expected) => {
    expect(answerMarkdown(answer)).toBe(expected);
  });

  test("one that is too long says so", () => {
    const long = answerMarkdown("x".repeat(maxAnswerCharacters + 10));
    expect(long.endsWith(`x\n\n${remark("The rest of this answer is too long.")}`)).toBe(true);
  });

  test("whatever it says, the person's turn behind it is the last and is empty", () => {
    const piece = fc.constantFrom(
      ..."## You|You|---|===|```|~~~|<!--|-->|<pre>|hello|- |> |\\|`|  |\t|![|#|\r\n|\r|You ##|# |1. ".split(
        "|",
      ),
    );
    const line = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const turn = `## Steward\n\n${answerMarkdown(lines.join("\n"))}`;
        const before = "## You\n\nhello";
        const text = before + turnInsertion(before, before.length, turn);
        expect(lastTurn(text, before.length)).toMatchObject({ text: "" });
        // Also for a reader who knows nothing of where the turns are, and once the empty turn was deleted.
        expect(lastTurn(text)).toMatchObject({ text: "", start: text.lastIndexOf("## You") });
        expect(lastTurn(text.slice(before.length, text.lastIndexOf("## You")))).toBeNull();
      }),
      { numRuns: 2_000 },
    );
  });

  test("a long line with many marks costs no more than its length", () => {
    const marks = Array.from({ length: 900 }, (_, index) => "`".repeat(index + 1)).join("<b ");
    expect(answerMarkdown(marks)).toContain("< b ");
    expect(answerMarkdown("` <b> ".repeat(80_000)).length).toBeGreaterThan(400_000);
    for (const piece of [
      "- ",
      "> ",
      "1. ",
      "$$ ",
      "- \n",
      "#",
      "](",
      "][",
      "[^a",
      "\t`",
      "-",
      "=",
      "`<b>` ",
      ".` ",
    ]) {
      const times = 200_000 / piece.length;
      expect(answerMarkdown(`${piece.repeat(times)}<b> x`)).toContain("< b> x");
    }
  });
});

test("an agent's heading never begins a person's turn, whatever the agent calls itself", () => {
  expect(agentHeading({ id: "test.a", name: "Steward" })).toBe("## Steward");
  expect(agentHeading({ id: "test.a", name: " yOu " })).toBe("## Agent test.a");
  expect(agentHeading({ id: "test.a", name: "a\n## You" })).toBe("## a \\#\\# You");
  // A preview takes the backslash for a part of the address.
  expect(agentHeading({ id: "test.a", name: "http://a/<img>" })).toBe("## http://a/\\< img\\>");
});

test("a turn is inserted with empty lines around it, and with a heading behind it unless one is there", () => {
  const turn = "## A\n\nb";
  expect(turnInsertion("x", 1, turn)).toBe("\n\n## A\n\nb\n\n## You\n\n");
  expect(turnInsertion("x\n", 1, turn)).toBe("\n\n## A\n\nb\n\n## You\n");
  expect(turnInsertion("x\n\n", 3, turn)).toBe("## A\n\nb\n\n## You\n\n");
  expect(turnInsertion("x\n\n## You\n", 1, turn)).toBe("\n\n## A\n\nb");
  expect(turnInsertion("x\n\n## You\n", 3, turn)).toBe("## A\n\nb\n\n");
  expect(turnInsertion("x more", 1, turn)).toBe("\n\n## A\n\nb\n\n## You\n\n");
  expect(turnInsertion("x\r\n", 1, turn)).toBe("\r\n\r\n## A\r\n\r\nb\r\n\r\n## You\r\n");
  expect(personInsertion("")).toBe("## You\n\n");
  expect(personInsertion("a\n")).toBe("\n## You\n\n");
  expect(personInsertion("a\n\n\n")).toBe("## You\n\n");
});
