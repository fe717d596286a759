import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { differentWords, indexedWords, maxWordLength, searchedWords } from "./words.ts";

describe("words that are searched for", () => {
  it.each<[text: string, words: string[]]>([
    ["The beach, the BEACH!", ["the", "beach"]],
    ['"a" AND b* OR -c:d^2 NEAR(e f, 3)', ["a", "and", "b", "or", "c", "d", "2", "near", "e", "f", "3"]],
    ["don't foo-bar a_b", ["don", "t", "foo", "bar", "a", "b"]],
    ["Café CAFÉ cafe\u0301", ["cafe"]],
    ["Straße", ["straße"]],
    ["İstanbul ΟΔΟΣ οδός", ["istanbul", "οδοσ"]],
    ["ﬁsh ＡＢＣ", ["fish", "abc"]],
    ["東京都", ["東京", "京都"]],
    ["水", ["水"]],
    ["iPhone用", ["iphone", "用"]],
    ["도서관에서", ["도서", "서관", "관에", "에서"]],
    ["हिन्दी", ["हिन्दी"]],
    ["party 🎉🎉 ❤️ 🇦🇹", ["party", "🎉", "❤", "🇦🇹"]],
    ["x\u0000y", ["x", "y"]],
    ["\ud800a\udc00", ["a"]],
    ["", []],
    [" \n\t", []],
    ['"*-:^()', []],
    ["…—„“", []],
    ["𝒳𝒴", ["xy"]],
    ["𠮷野", ["𠮷野"]],
  ])("%j", (text, words) => {
    expect(searchedWords(text)).toEqual(words);
  });
});

it("a text is found by its words, whatever it is", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), fc.string()),
      (text) => {
        const indexed = differentWords(indexedWords(text));
        for (const word of searchedWords(text)) expect(indexed).toContain(word);
      },
    ),
    { numRuns: 2000 },
  );
});

it("cuts long words on both sides alike, and takes ten megabytes", () => {
  const long = "a".repeat(10_000_000);
  expect(searchedWords(long)).toEqual(["a".repeat(maxWordLength)]);
  expect(indexedWords(long)).toBe("a".repeat(maxWordLength));
  expect(searchedWords("𐐨".repeat(100))).toEqual(["𐐨".repeat(maxWordLength)]);
  expect(indexedWords("é ".repeat(3_000_000)).length).toBe(5_999_999);
});
