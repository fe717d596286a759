import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fixedSeed, seeded, seedOfThisRun } from "./seed.ts";

describe("the seed of a run", () => {
  test("is fixed without LARES_SEED", () => {
    expect(seedOfThisRun({})).toBe(fixedSeed);
  });

  test("is LARES_SEED when it is set", () => {
    expect(seedOfThisRun({ LARES_SEED: "-42" })).toBe(-42);
  });

  for (const text of ["x", "1.5", "2147483648", "99999999999"]) {
    test(`is not "${text}"`, () => {
      expect(() => seedOfThisRun({ LARES_SEED: text })).toThrow(`LARES_SEED is "${text}"`);
    });
  }
});

test("fast-check draws from the seed of this run in every test", () => {
  const drawn = fc.sample(fc.nat(), 20);
  expect(drawn).toEqual(fc.sample(fc.nat(), { numRuns: 20, seed: seedOfThisRun() }));
  expect(drawn).not.toEqual(fc.sample(fc.nat(), { numRuns: 20, seed: seedOfThisRun() + 1 }));
});

test("the same seed gives the same numbers, from 0 to below 1", () => {
  const [one, same] = [seeded(7), seeded(7)];
  const numbers = Array.from({ length: 1000 }, one);
  expect(numbers).toEqual(Array.from({ length: 1000 }, same));
  expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
  expect(new Set(numbers).size).toBeGreaterThan(990);
});
