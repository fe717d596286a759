import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { plainLine, plainText } from "./plain-text.ts";

function check(name: string, input: string, expected: string): void {
  test(name, () => expect(plainText(input)).toBe(expected));
}

describe("plainText", () => {
  check("keeps ordinary text of any script", "Grüße, 世界! שלום", "Grüße, 世界! שלום");
  check("keeps emoji that are joined", "👩‍👩‍👧 ok", "👩‍👩‍👧 ok");
  check("keeps line feeds and tabs", "a\n\tb", "a\n\tb");
  check("disarms an escape sequence", "\u001b[2J\u001b]0;pwned\u0007", "␛[2J␛]0;pwned␇");
  check("disarms eight-bit control codes", "\u009b31m", "\ufffd31m");
  check("shows a carriage return, which would overwrite the line", "safe\rEVIL", "safe␍EVIL");
  check("shows characters that reverse the direction", "photo\u202egpj.exe", "photo<U+202E>gpj.exe");
  check("shows characters without width", "ad\u200bmin\ufeff", "ad<U+200B>min<U+FEFF>");
  check("shows tag characters, which carry hidden text", "a\u{e0041}b", "a<U+E0041>b");
  check(
    "shows the other marks that can carry hidden text",
    "a\u{e0100}b\u{1d173}c\u17b4",
    "a<U+E0100>b<U+1D173>c<U+17B4>",
  );
  check("keeps the mark that makes a heart an emoji", "❤️", "❤️");
  check("mends half a surrogate pair", "a\ud800b", "a\ufffdb");

  test("the output never contains a control code or a direction mark", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        // oxlint-disable-next-line no-control-regex -- that is what must not come out
        expect(plainText(text)).not.toMatch(
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b]/,
        );
      }),
    );
  });
});

test("plainLine makes one line of many", () => {
  expect(plainLine("one  \r\n\t two\u2028three")).toBe("one two three");
});

test("plainLine takes time in proportion to hostile input", () => {
  const spaces = " ".repeat(1_000_000);
  expect(plainLine(`${spaces}x`)).toBe(`${spaces}x`);
});
