import fc from "fast-check";
import { expect, test } from "vitest";
import { testDuck } from "../../projection/testing/test-duck.ts";
import { effectiveImportance, type ImportanceFactors, importanceSql } from "./importance.ts";

const dayMs = 24 * 60 * 60 * 1000;
const item: ImportanceFactors = {
  variant: "Fact",
  explicit: 0.5,
  freshMs: 1_000 * dayMs,
  accesses: 0,
  relations: 0,
};

test.each<[what: string, factors: Partial<ImportanceFactors>, afterDays: number, expected: number]>([
  ["just said", {}, 0, 0.5],
  ["a half-life later", {}, 30, 0.3125],
  ["never below a quarter", {}, 36_500, 0.125],
  ["an Identity does not fade", { variant: "Identity" }, 36_500, 0.5],
  ["found eight times just now", { accesses: 8 }, 0, 0.575],
  ["found eight times, a half-life ago", { accesses: 8 }, 30, 0.3640625],
  ["eight relations do not fade", { relations: 8 }, 36_500, 0.2125],
  ["everything at once stays within 1", { explicit: 1, accesses: 1e9, relations: 1e9 }, 0, 1],
  ["nothing said and nothing used", { explicit: 0 }, 0, 0],
  ["a clock that went backwards", {}, -10, 0.5],
])("%s", (_, factors, afterDays, expected) => {
  const nowMs = item.freshMs + afterDays * dayMs;
  expect(effectiveImportance({ ...item, ...factors }, nowMs)).toBeCloseTo(expected, 10);
});

test("the database orders by the very same formula", async () => {
  const { file } = await testDuck();
  const nowMs = item.freshMs + 50 * dayMs;
  const sql = `SELECT ${importanceSql(nowMs)} AS importance FROM
    (SELECT ? AS variant, CAST(? AS DOUBLE) AS importance, ? AS fresh_ms, ? AS accesses, ? AS relations)`;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("Fact", "Identity"),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: 0, max: nowMs + dayMs }),
      fc.nat(1_000),
      fc.nat(1_000),
      async (variant, explicit, freshMs, accesses, relations) => {
        const [row] = await file.all<{ importance: number }>(sql, [
          variant,
          explicit,
          freshMs,
          accesses,
          relations,
        ]);
        const own = effectiveImportance({ variant, explicit, freshMs, accesses, relations }, nowMs);
        expect(row?.importance).toBeCloseTo(own, 12);
        expect(own).toBeGreaterThanOrEqual(0);
        expect(own).toBeLessThanOrEqual(1);
      },
    ),
    { numRuns: 100 },
  );
});
