import fc from "fast-check";
import { expect, test } from "vitest";
import { inTokenBatches } from "./token-batches.ts";

const texts = fc.array(fc.array(fc.nat(9), { maxLength: 30 }));

test("every text is in one batch, and a batch of several stays within its bound with its padding", () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 60 }), (all, bound) => {
      const batches = inTokenBatches(all, bound);
      expect(new Set(batches.flat())).toEqual(new Set(all));
      expect(batches.flat()).toHaveLength(all.length);
      for (const batch of batches) {
        const padded = batch.length * Math.max(...batch.map(({ length }) => length));
        if (batch.length > 1) expect(padded).toBeLessThanOrEqual(bound);
      }
    }),
  );
});

test("a long text does not pad short ones", () => {
  const long = Array.from({ length: 256 }, () => 1);
  const batches = inTokenBatches([[1], long, [1, 2], long], 512);
  expect(batches.map((batch) => batch.map(({ length }) => length))).toEqual([
    [1, 2],
    [256, 256],
  ]);
});
