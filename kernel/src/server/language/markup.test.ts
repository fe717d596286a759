import { describe, expect, test } from "vitest";
import type { Explanation } from "../../base/vocabulary/editing.ts";
import { markup } from "./markup.ts";

const explained: Explanation = [
  { kind: "paragraph", spans: [{ code: "kinds" }, ": list"] },
  { kind: "item", spans: ["one"] },
  { kind: "item", spans: ["two"] },
  { kind: "paragraph", spans: ["end"] },
];

test("paragraphs, lists and code, in Markdown and in plain text", () => {
  expect(markup(explained, true)).toEqual({
    kind: "markdown",
    value: "`kinds`: list\n\n- one\n- two\n\nend",
  });
  expect(markup(explained, false)).toEqual({
    kind: "plaintext",
    value: "kinds: list\n\n- one\n- two\n\nend",
  });
});

describe("untrusted text is escaped", () => {
  test.each([
    ["[click](command:evil)", String.raw`\[click\](command:evil)`],
    ["![x](https://evil.example/x.png)", String.raw`\!\[x\](https\://evil.example/x.png)`],
    ["<img src=x>", String.raw`\<img src=x\>`],
    ["**bold** _and_ `code`", String.raw`\*\*bold\*\* \_and\_ \`code\``],
    ["https://evil.example", String.raw`https\://evil.example`],
    ["www.evil.example", String.raw`www\.evil.example`],
    ["me@evil.example", String.raw`me\@evil.example`],
    ["# heading", String.raw`\# heading`],
    ["1. first", String.raw`1\. first`],
    ["- item", String.raw`\- item`],
    ["two\n\n# lines", "two # lines"],
    ["$(alert) icons", String.raw`\$(alert) icons`],
    ["\u001b[31mred", "␛\\[31mred"],
    ["a\u202eb", String.raw`a\<U+202E\>b`],
  ])("%j", (text, escaped) => {
    expect(markup([{ kind: "paragraph", spans: [text] }], true).value).toBe(escaped);
    expect(markup([{ kind: "item", spans: [text] }], true).value).toBe(`- ${escaped}`);
  });

  test("code cannot end its own fence", () => {
    expect(markup([{ kind: "paragraph", spans: [{ code: "a`b``c" }] }], true).value).toBe("``` a`b``c ```");
  });

  test("and is bounded", () => {
    const { value } = markup([{ kind: "paragraph", spans: ["x".repeat(100_000)] }], true);
    expect(value.length).toBeLessThan(5000);
  });
});
