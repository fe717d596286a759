import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectHarmless, HOSTILE_PIECES } from "../../../../test/support/hostile-text.ts";
import { renderMarkdown } from "./markdown.ts";
import { noStyle, styleFor } from "./style.ts";
import { displayWidth } from "./width.ts";

const render = (text: string, width = 60): string =>
  renderMarkdown(text, { style: noStyle, width }).join("\n");

const document = `# Doubles in *2024*

The cabin cost **NOK 4,850** on \`2024-03-14\`; see [the invoice](https://example.org/invoice?id=1 "title") and
![a map](https://example.org/map.png). Also https://example.org/auto.  
A new line &lt;b&gt;.

- one
- two, which is a long line that has to be broken at the width of the terminal
  - nested
- [x] done
- [ ] open

3. three
4. four

> quoted
>
> > twice

\`\`\`ts
const answer = 42; // &lt; stays
\`\`\`

| Name | Size |
|------|-----:|
| a | 1 |
| long name | 1,000 |

<script>alert(1)</script>

---
`;

describe("Markdown of a model", () => {
  test("is drawn for a terminal", () => {
    expect(render(document)).toMatchSnapshot();
  });

  test("is drawn narrow, a table row by row", () => {
    expect(render(document, 24)).toMatchSnapshot();
  });

  test("shows the whole address of a link, and no picture", () => {
    expect(render("[bank](https://evil.example/x) ![p](https://evil.example/y)", 200)).toBe(
      "bank (https://evil.example/x) [picture: p] (https://evil.example/y)",
    );
    expect(render("[https://bank.example](https://evil.example)", 200)).toBe(
      "https://bank.example (https://evil.example)",
    );
    expect(render("<https://example.org>")).toBe("https://example.org");
  });

  test("never has an effect on the terminal", () => {
    for (const [name, piece] of Object.entries(HOSTILE_PIECES))
      for (const around of [
        "X",
        "# X",
        "- X",
        "> X",
        "`X`",
        "```X\nX\n```",
        "[X](X)",
        "![X](X)",
        "|X|X|\n|-|-|\n|X|X|",
        "**X**",
      ])
        // The chat draws a bar before each line.
        expectHarmless(render(around.replaceAll("X", piece)).replace(/^/gm, "┆ "), `${name} in ${around}`);
  });

  test("fits the width, whatever it is", () => {
    const markdown = fc
      .array(
        fc.constantFrom(
          "# ",
          "- ",
          "> ",
          "`",
          "**",
          "_",
          "[a](b)",
          "|",
          "\n",
          "\n\n",
          "```\n",
          "1. ",
          " ",
          "word",
          "漢字",
          "é",
        ),
        {
          maxLength: 60,
        },
      )
      .map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(markdown, fc.integer({ min: 40, max: 80 }), (text, width) => {
        for (const line of renderMarkdown(text, { style: noStyle, width }))
          expect(displayWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });

  test("does not take long, and does not fail, however it is nested", () => {
    const began = performance.now();
    for (const piece of [">", "* ", "[", "- ", "`", "![a](", "a_", "|a", "**", "<a "])
      render(piece.repeat(20_000));
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  test("has colours only where they are wanted", () => {
    const colours = renderMarkdown("**a** `b`", { style: styleFor(true), width: 60 }).join("");
    expect(colours).toContain("\u001b[1ma");
    expect(render("**a** `b`")).toBe("a b");
  });
});
