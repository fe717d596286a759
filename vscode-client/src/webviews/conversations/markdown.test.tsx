import { renderToString } from "preact-render-to-string";
import { describe, expect, it } from "vitest";
import { HOSTILE, HOSTILE_PIECES } from "../../../../test/support/hostile-text.ts";
import { addressOf } from "./address.ts";
import { Markdown } from "./markdown.tsx";

const acts = { openLink: () => undefined, copy: () => undefined };
const drawn = (text: string): string => renderToString(<Markdown text={text} acts={acts} />);

/** Elements that can be made of a text. */
const allowed =
  /^(div|p|br|hr|strong|em|s|code|pre|ul|ol|li|blockquote|table|thead|tbody|tr|th|td|span|button)$/;

describe("what a model writes", () => {
  it("has structure", () => {
    const html = drawn("# Title\n\n- one\n- **two**\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```js\nx\n```\n");
    expect(html).toContain('role="heading" aria-level="3"');
    expect(html).toContain("<li>one</li>");
    expect(html).toContain("<strong>two</strong>");
    expect(html).toContain("<td>1</td>");
    expect(html).toContain("<code>x</code>");
  });

  it("shows the whole address of a link", () =>
    expect(drawn("[the map](https://maps.example.org/a?b=c)")).toMatch(
      /the map .*role="link"[^>]*>https:\/\/maps\.example\.org\/a\?b=c</,
    ));

  it("shows a host that only looks like another one as what it is", () =>
    expect(drawn("[bank](https://\u0430pple.com/)")).toContain("https://xn--pple-43d.com/"));

  it.each([
    ["a command", "[approve](command:lares.approve)"],
    ["a script", "[x](javascript:alert(1))"],
    ["data", "[x](data:text/html,<b>)"],
    ["a file", "[x](file:///etc/passwd)"],
    ["another scheme", "[x](vscode://lares.lares/approve)"],
    ["a name and password", "[x](https://example.org@evil.invalid/)"],
    ["a relative path", "[x](../../etc/passwd)"],
    ["a bare address", "https://evil.invalid/"],
    ["an address in angle brackets", "<https://evil.invalid/>"],
    ["a reference", "[x][1]\n\n[1]: https://evil.invalid/"],
  ])("does not link %s, and hides none of it", (_name, text) => {
    const html = drawn(text);
    expect(html).not.toContain('role="link"');
    const shown = html
      .replace(/<[^>]*>/g, "")
      .replaceAll("&lt;", "<")
      .replaceAll("&amp;", "&");
    expect(shown.replaceAll("\n", "")).toBe(text.replaceAll("\n", ""));
  });

  it.each([["all of it", HOSTILE], ...Object.entries(HOSTILE_PIECES)])(
    "does nothing that is hostile: %s",
    (_name, text) => {
      for (const source of [
        text,
        `# ${text}`,
        `- ${text}`,
        `\`\`\`${text}\n${text}\n\`\`\``,
        `[${text}](https://a.example/${text})`,
      ]) {
        const html = drawn(source);
        for (const [, name = ""] of html.matchAll(/<([a-z0-9]+)/gi)) expect(name).toMatch(allowed);
        expect(html).not.toMatch(/<[^>"]*("[^"]*"[^>"]*)*\s(on[a-z]+|href|src|style)=/);
        // oxlint-disable-next-line no-control-regex -- these must not be in the page
        expect(html).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069]/);
      }
    },
  );

  it("is drawn as plain text where it is too long, and is bounded where it is deep", () => {
    expect(drawn("x ".repeat(40_000))).toContain('<pre class="plain">');
    expect(drawn(`${"> ".repeat(2_000)}deep`).length).toBeLessThan(20_000);
    expect(drawn("*".repeat(20_000)).length).toBeLessThan(100_000);
  });
});

it.each([
  ["https://example.org", "https://example.org/"],
  ["http://example.org/a b", "http://example.org/a%20b"],
  ["ftp://example.org", undefined],
  ["https://", undefined],
  [`https://example.org/${"x".repeat(5_000)}`, undefined],
])("the address of %s", (text, expected) => expect(addressOf(text)).toBe(expected));
