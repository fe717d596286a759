import { expect, test } from "vitest";
import { maxTextLength, shortenedValues } from "./values.ts";

const plain = (text: string): string => text;
const noTokens = (text: string): string =>
  text.replaceAll(/tok_[a-z]{1,40}|password: \w+/g, "[redacted: token]");

test("small values stay as they are", () => {
  const values = { result: { path: "a.md", tags: ["x"], size: 3, none: null, is: true } };
  expect(shortenedValues(values, plain)).toEqual(values);
});

test("long texts, lists and records are shortened, and say so", () => {
  const { text, list, record } = shortenedValues(
    {
      text: "x".repeat(1_000_000),
      list: Array.from({ length: 1000 }, (_, n) => n),
      record: Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`k${n}`, n])),
    },
    plain,
  ) as { text: string; list: unknown[]; record: Record<string, unknown> };
  expect(text).toHaveLength(maxTextLength);
  expect(text).toContain("1000000 characters, cut");
  expect(list.at(-1)).toBe("… [980 more]");
  expect(record["…"]).toBe("[80 more]");
});

test("all texts of one value together are bounded", () => {
  const wide = (depth: number): unknown =>
    depth === 0 ? "y".repeat(5000) : Array.from({ length: 30 }, () => wide(depth - 1));
  expect(JSON.stringify(shortenedValues({ result: wide(3) }, plain)).length).toBeLessThan(32_000);
});

test("a secret is replaced, also by its name, and where the text is cut", () => {
  const cutThrough = `${"x".repeat(maxTextLength + 4080)}tok_${"a".repeat(40)}`;
  const shown = JSON.stringify(
    shortenedValues(
      { a: "tok_abc", password: "hunter2", c: { d: [`${"z".repeat(500)} tok_def`] }, cutThrough },
      noTokens,
    ),
  );
  expect(shown).not.toContain("tok_");
  expect(shown).not.toContain("hunter2");
});

test("bytes are named by their number", () => {
  expect(shortenedValues({ content: new Uint8Array(12) }, plain)).toEqual({ content: "[12 bytes]" });
});

test("contents in Base64 are told by their length, because no pattern finds a secret in them", () => {
  const shown = shortenedValues(
    { result: { base64: Buffer.from("password: hunter2").toString("base64") } },
    noTokens,
  );
  expect(shown).toEqual({ result: { base64: "[17 bytes]" } });
});

test("the search for secrets is bounded, however many texts and names a value has", () => {
  let searched = 0;
  const counting = (text: string): string => {
    searched += text.length;
    return text;
  };
  const wide = (depth: number): unknown =>
    depth === 0
      ? "y".repeat(5000)
      : Object.fromEntries(
          Array.from({ length: 20 }, (_, n) => [`${"k".repeat(1000)}${n}`, wide(depth - 1)]),
        );
  shortenedValues({ params: wide(2) }, counting);
  expect(searched).toBeLessThan(64 * 1024);
});
