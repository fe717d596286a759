import fc from "fast-check";
import { expect, test } from "vitest";
import { wellFormed, type JsonValue } from "../base/json.ts";
import { matches } from "../store/projection/testing/where-reference.ts";
import { checkedConditions } from "./conditions.ts";
import { holdAll } from "./holds.ts";
import type { Where } from "./queries.ts";

const values: readonly JsonValue[] = [
  null,
  true,
  0,
  -0,
  1,
  1.5,
  2 ** 53,
  9,
  10,
  "",
  "9",
  "10",
  "a",
  "é",
  "𝒳",
  "\uffff",
  "\ue000",
  "2026-11-20T10:00:00.000Z",
  [],
  [1, "a", null],
  [{ b: 1, a: 2 }],
  [48.2, 16.37],
  [91, 0],
  {},
  { a: 2, b: 1 },
  { lat: 48.21, lon: 16.36 },
  { latitude: 0, longitude: 180 },
  { lat: "10", lon: 20 },
];

test("numbers are compared as numbers, and never with texts", () => {
  const holds = (op: Where["op"], value: JsonValue, n: JsonValue): boolean =>
    holdAll(checkedConditions([{ field: "n", op, value }]), { n });
  expect(holds("gt", 9, 10)).toBe(true);
  expect(holds("gt", "9", "10")).toBe(false);
  expect(holds("lt", 10, "9")).toBe(false);
  expect(holds("eq", 1, 1.0)).toBe(true);
  expect(holds("eq", 1, "1")).toBe(false);
});

test("random conditions over random data hold where the plain reference says so", () => {
  const value = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...values) },
    fc.jsonValue({ maxDepth: 2 }),
    fc.string({ unit: "binary" }),
  ) as fc.Arbitrary<JsonValue>;
  const data = fc.oneof(
    fc.dictionary(
      fc.constantFrom("a", "b", "c"),
      fc.oneof(value, fc.dictionary(fc.constantFrom("a", "b"), value)),
    ),
    value,
  ) as fc.Arbitrary<JsonValue>;
  const field = fc.constantFrom("a", "b", "a.b", "c.a", "a.0", "toString", "__proto__", "length");
  const where: fc.Arbitrary<Where> = fc.oneof(
    fc.record({ field, op: fc.constantFrom("eq", "ne", "contains"), value }),
    fc.record({ field, op: fc.constant("in" as const), value: fc.array(value, { maxLength: 4 }) }),
    fc.record({
      field,
      op: fc.constantFrom("gt", "gte", "lt", "lte"),
      value: fc.oneof(fc.integer(), fc.string({ unit: "binary" }), fc.constantFrom("\uffff", "𝒳", "\ue000")),
    }),
    fc.record({
      field,
      op: fc.constant("near" as const),
      value: fc.constantFrom<JsonValue>([48.2, 16.37], { lat: 0, lon: 0 }),
      km: fc.double({ min: 0, max: 20_100, noNaN: true }),
    }),
  );
  fc.assert(
    fc.property(data, fc.array(where, { maxLength: 3 }), (one, conditions) => {
      // As values are stored: without halves of surrogate pairs.
      const stored = wellFormed(one);
      expect(holdAll(checkedConditions(conditions), stored)).toBe(matches(stored, conditions));
    }),
    { numRuns: 2000 },
  );
});
