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
