import fc from "fast-check";
import { expect, test } from "vitest";
import { maxInputTokens, totalTokens } from "./cost.ts";

test("all tokens count, reasoning as part of the output", () => {
  const usage = {
    input_tokens: 1000,
    output_tokens: 100,
    reasoning_tokens: 60,
    cache_read_tokens: 10_000,
    cache_write_tokens: 500,
  };
  expect(totalTokens(usage)).toBe(11_600);
});

test("the upper estimate is at least half of the text's bytes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const most = maxInputTokens({
        model: "a/b",
        messages: [{ role: "user", parts: [{ type: "text", text }] }],
      });
      expect(most).toBeGreaterThanOrEqual(new TextEncoder().encode(text).length / 2);
    }),
  );
});

test.each([
  ["digits, of which some tokenizers read one at a time", "31415926535897932384", 20],
  ["signs", "%$(){};", 7],
  ["letters apart from each other", "a b c d", 4],
  ["words", "reads the file", 1 + 2 + 1 + 1 + 1 + 1.5],
  ["Base64", "aGVsbG8gd29ybGQ", 12.5],
  ["emoji", "🧿", 4],
])("%s are reserved for in full", (_, text, tokens) => {
  const messages = [{ role: "user" as const, parts: [{ type: "text" as const, text }] }];
  const empty = [{ role: "user" as const, parts: [{ type: "text" as const, text: "" }] }];
  const [most, none] = [messages, empty].map((each) => maxInputTokens({ model: "a/b", messages: each }));
  expect(Number(most) - Number(none)).toBe(Math.ceil(tokens));
});
