import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { quotedText, readVisible, visibleSentence, visibleText } from "./visible-text.ts";

function check(name: string, input: string, expected: string): void {
  test(name, () => expect(visibleText(input)).toBe(expected));
}

describe("visibleText", () => {
  check("keeps ordinary text of any script", "Grüße, 世界! שלום हिन्दी", "Grüße, 世界! שלום हिन्दी");
  check("keeps emoji, joined ones too", "👩‍👩‍👧 ❤️ 🇩🇪", "👩‍👩‍👧 ❤️ 🇩🇪");
  check("counts a long run of blanks", `make all${" ".repeat(160)}; curl`, "make all<␠×160>; curl");
  check("counts other blanks, too", "a\u00a0b\u3000c" + "\t".repeat(40), "a<U+00A0>b<U+3000>c<⇥×40>");
  check("keeps an indentation", "        return x;", "        return x;");
  check("shows blanks at the end of a line", "a  \nb ", "a␠␠␊b␠");
  check("shows tabs, carriage returns and line feeds", "a\tb\r\n", "a⇥   b␍␊");
  check("shows control codes", "\u001b[2J\u009b\u007f", "␛[2J<U+009B>␡");
  check("shows characters that reverse text", "photo\u202egpj.exe", "photo<U+202E>gpj.exe");
  check("shows characters without width", "ad\u200bmin\u2060\u034f", "ad<U+200B>min<U+2060><U+034F>");
  check("shows joiners outside of emoji", "pay\u200dpal\u200c", "pay<U+200D>pal<U+200C>");
  check("shows a variation mark outside of emoji", "a\ufe0f1\ufe0f", "a<U+FE0F>1<U+FE0F>");
  check("shows hidden tag characters", "a\u{e0041}b", "a<U+E0041>b");
  check("shows a combining mark that has no letter", "\u0301a \u0301", "<U+0301>a <U+0301>");
  check(
    "stops a pile of combining marks",
    `a${"\u0301".repeat(6)}`,
    `a${"\u0301".repeat(4)}<U+0301><U+0301>`,
  );
  check("shows half a surrogate pair", "a\ud800b", "a<U+D800>b");
  check(
    "shows characters that would read as its own marks",
    "␠ ↩ ⇥ <U+200B>",
    "<U+2420> <U+21A9> <U+21E5> <U+003C>U+200B>",
  );

  test("nothing within quotation marks ends them", () => {
    expect(quotedText('a" (+1 −1). Creates "b')).toBe('"a<U+0022> (+1 −1). Creates <U+0022>b"');
  });

  const nasty = fc
    .array(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.string({ unit: "grapheme" }),
        fc.constantFrom(
          "<",
          "<U+41>",
          "×5>",
          "␠",
          "<␠×160>",
          "⇥   ",
          "↩",
          "\n",
          "\r\n",
          " ",
          "\t",
          "\u0301",
          "\u200d",
          "\ufe0f",
          "\0",
          "👩",
          "\ud83d",
          "\udc69",
          "가",
          "\u1100\u1161",
        ),
        fc
          .tuple(fc.constantFrom(" ", "\t", "\n", "\u200b", "a"), fc.integer({ min: 1, max: 200 }))
          .map(([character, count]) => character.repeat(count)),
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join(""));
  test("any input can be read back, character for character", () => {
    fc.assert(
      fc.property(nasty, (text) => readVisible(visibleText(text)) === text),
      { numRuns: 500 },
    );
  });
  test("the output never contains hidden characters or control codes", () => {
    fc.assert(
      fc.property(nasty, (text) => {
        const shown = visibleText(text)
          .replace(/\p{RGI_Emoji}/gv, "#")
          .replaceAll("⇥   ", "⇥");
        expect(shown).not.toMatch(/[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]--[\x20]]/v);
        expect(shown).not.toMatch(/ {16}| $/);
      }),
      { numRuns: 500 },
    );
  });
});

test("a sentence with quoted names is shown as it is, marks included; what is not visible in it becomes visible", () => {
  const quoted = `Because of ${quotedText('a\u202eb"c<U+200B>\t⇥ 👩‍👧')}.`;
  expect(quoted).toContain("<U+202E>");
  expect(visibleSentence(quoted)).toBe(quoted);
  expect(visibleSentence("a\u202eb\u001b[31m\u00a0c\n")).toBe("a<U+202E>b␛[31m<U+00A0>c␊");
});
