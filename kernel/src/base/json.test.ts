import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson, wellFormed } from "./json.ts";

/** Any JSON, whose texts and keys may have halves of characters. */
const texts = fc.string({ unit: fc.constantFrom("a", "\ud83d", "\ude00", "\ud83d\ude00", "__proto__") });
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    texts,
    fc.integer(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(fc.tuple(texts, tie("value")), { maxLength: 3 }).map((fields) => Object.fromEntries(fields)),
  ),
})).value;

test("any JSON is repaired to what canonical JSON holds, and is itself if nothing was wrong", () => {
  fc.assert(
    fc.property(json, (value) => {
      const repaired = wellFormed(value);
      const text = canonicalJson(repaired);
      expect(JSON.parse(text)).toEqual(repaired);
      expect(wellFormed(repaired)).toBe(repaired);
      if (!/\\ud[89a-f]/.test(JSON.stringify(value))) expect(repaired).toBe(value);
    }),
    { numRuns: 2_000 },
  );
});

test("a half of a character becomes U+FFFD, in a text and in a key", () => {
  expect(wellFormed({ a: ["b\ud800c"], "\udfff": 1 })).toEqual({ a: ["b\ufffdc"], "\ufffd": 1 });
});
