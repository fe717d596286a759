import { expect, test } from "vitest";
import config from "../../oxlint.config.ts";

/** Returns every `regex` of the rules that restrict imports. */
function patternsOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "regex" && typeof inner === "string" ? [inner] : patternsOf(inner),
  );
}

test("no pattern looks around: Oxlint ignores such a pattern without a word", () => {
  const patterns = patternsOf(config);
  expect(patterns.length).toBeGreaterThan(30);
  expect(patterns.filter((pattern) => /\(\?<?[=!]/.test(pattern))).toEqual([]);
});
