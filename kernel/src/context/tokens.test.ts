import fc from "fast-check";
import { expect, test } from "vitest";
import { taintOf } from "./taint.ts";
import { contextTokens, estimateTokens, pressureOf } from "./tokens.ts";

test("texts are rather counted too high than too low", () => {
  // Each with its tokens in cl100k_base.
  const prose = "The quick brown fox jumps over the lazy dog. ".repeat(20);
  expect(estimateTokens(prose)).toBeGreaterThanOrEqual(200);
  expect(estimateTokens(prose)).toBeLessThan(320);
  expect(estimateTokens("const total = items.reduce((sum, each) => sum + each, 0);")).toBeGreaterThan(17);
  // Base64 and characters beyond ASCII have no words that a tokenizer knows.
  const base64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk".repeat(20);
  expect(estimateTokens(base64)).toBeGreaterThan(base64.length * 0.6);
  expect(estimateTokens("漢字仮名交じり文".repeat(10))).toBeGreaterThanOrEqual(80);
  expect(estimateTokens("😀".repeat(10))).toBeGreaterThanOrEqual(20);
  expect(estimateTokens("")).toBe(0);
});

test("parts of a text take no fewer tokens than the whole", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string(), (a, b) => {
      expect(estimateTokens(`${a}\n${b}`)).toBeLessThanOrEqual(
        estimateTokens(a) + estimateTokens(`\n${b}`) + 1,
      );
    }),
  );
});

test("the provider's count is taken, with cached tokens and an estimate of what is new", () => {
  const usage = { input_tokens: 10, output_tokens: 99, cache_read_tokens: 200, cache_write_tokens: 30 };
  expect(contextTokens(usage, 5)).toBe(245);
});

test("pressure rises at the thresholds", () => {
  const thresholds = { background: 0.8, aggressive: 0.85, emergency: 0.95 };
  expect([0, 799, 800, 850, 949, 950, 9_999].map((tokens) => pressureOf(tokens, 1_000, thresholds))).toEqual([
    "none",
    "none",
    "background",
    "aggressive",
    "aggressive",
    "emergency",
    "emergency",
  ]);
});

test("what is made from entries inherits their sources and whether one is tainted", () => {
  expect(taintOf([])).toEqual({});
  expect(taintOf([{ origin: "person" }, { sources: ["a.md"] }])).toEqual({ sources: ["a.md"] });
  expect(
    taintOf([
      { sources: ["a.md", "web"], tainted: true },
      { origin: "mcp:x", tainted: true },
      { sources: ["web"] },
    ]),
  ).toEqual({ sources: ["a.md", "web", "mcp:x"], tainted: true });
  const many = taintOf(Array.from({ length: 99 }, (_, n) => ({ sources: [`s${n}`] })));
  expect(many.sources).toHaveLength(32);
  expect(many.sources?.at(-1)).toBe("others");
});
