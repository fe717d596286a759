import fc from "fast-check";
import { expect, test } from "vitest";
import { costInMicroUsd, maxInputTokens, totalTokens } from "./cost.ts";

test("cached tokens have separate prices, and reasoning counts as output", () => {
  const usage = {
    input_tokens: 1000,
    output_tokens: 100,
    reasoning_tokens: 60,
    cache_read_tokens: 10_000,
    cache_write_tokens: 500,
  };
  const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
  expect(costInMicroUsd(usage, price)).toBe(3000 + 1500 + 3000 + 1875);
  expect(totalTokens(usage)).toBe(11_600);
});

test("a fraction of a millionth is rounded up", () => {
  expect(costInMicroUsd({ input_tokens: 1, output_tokens: 0 }, { input: 0.05, output: 0 })).toBe(1);
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
