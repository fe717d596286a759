import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, type JsonValue } from "../../base/json.ts";
import { maxConditions, maxFieldLength, maxInValues } from "../../memory-contract/conditions.ts";
import type { Where } from "../../memory-contract/queries.ts";
import type { Sql } from "./port.ts";
import { testDuck } from "./testing/test-duck.ts";
import { matches } from "./testing/where-reference.ts";
import { storedJson, whereSql } from "./where.ts";

async function storing(sql: Sql, facts: readonly JsonValue[]): Promise<void> {
  await sql.run("CREATE OR REPLACE TABLE facts (row BIGINT, data VARCHAR)");
  await sql.append(
    "facts",
    facts.map((data, row) => [row, storedJson(data)]),
  );
}

async function found(sql: Sql, where: readonly Where[]): Promise<number[]> {
  const condition = whereSql(where, "data");
  const rows = await sql.all<{ row: number }>(
    `SELECT row FROM facts WHERE ${condition.sql} ORDER BY row`,
    condition.params,
  );
  return rows.map(({ row }) => row);
}

const values: readonly JsonValue[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  1e21,
  2 ** 53,
  1e-7,
  "",
  "a",
  "A",
  "1",
  "null",
  "beach",
  "the beach",
  "é",
  "𝒳",
  "\uffff",
  "2026-11-20T10:00:00.000Z",
  "x\u0000y",
  '"',
  "\\ud800",
  [],
  [1, "a", null],
  ["a", ["a"]],
  [{ b: 1, a: 2 }],
  [10, 20],
  [48.2, 16.37],
  [91, 0],
  {},
  { a: 2, b: 1 },
  { lat: 48.21, lon: 16.36 },
  { latitude: 0, longitude: 180 },
  { lat: 10, lng: 20.001 },
  { lat: "10", lon: 20 },
];

/** Only used in a query: no journal contains it. */
const half = "x\ud800";

const ordered = ["gt", "gte", "lt", "lte"] as const;

describe("each op over every type of value", () => {
  const cases: Where[] = values.flatMap((value): Where[] => [
    { field: "f", op: "eq", value },
    { field: "f", op: "ne", value },
    { field: "f", op: "contains", value },
    { field: "f", op: "in", value: [value, "beach"] },
    ...(typeof value === "number" || typeof value === "string"
      ? ordered.map((op): Where => ({ field: "f", op, value }))
      : []),
  ]);
  const halves: Where[] = (["eq", "ne", "contains", "gt"] as const).map((op) => ({
    field: "f",
    op,
    value: half,
  }));
  const near: Where[] = [0, 0.05, 1, 2, 500, 20_100].flatMap((km) => [
    { field: "f", op: "near", value: [48.2, 16.37], km },
    { field: "f", op: "near", value: { latitude: 10, longitude: 20 }, km },
    { field: "f", op: "near", value: { lat: 0, lng: -180 }, km },
  ]);

  it("answers as the plain reference does", async () => {
    const { file } = await testDuck();
    const facts: JsonValue[] = [
      ...values.map((f) => ({ f })),
      { f: "x\ufffd" },
      {},
      "f",
      ["f"],
      null,
      1,
      { "f.f": 1 },
    ];
    await storing(file, facts);
    for (const where of [...cases, ...near, ...halves]) {
      const expected = facts.flatMap((data, row) => (matches(data, [where]) ? [row] : []));
      expect(await found(file, [where]), JSON.stringify(where)).toEqual(expected);
    }
  });
});

describe("paths", () => {
  const odd = [
    "$",
    "*",
    "[0]",
    "$[*]",
    "a'b",
    'a"b',
    "a/b",
    "a~b",
    "a~1b",
    "é",
    "日本",
    "x\u0000y",
    "#-1",
    "?",
    "--",
    "0",
    "-1",
  ];

  it("take every character literally", async () => {
    const { file } = await testDuck();
    const facts: JsonValue[] = odd.flatMap((key) => [{ [key]: "here" }, { deep: { [key]: "here" } }]);
    await storing(file, facts);
    for (const field of odd.flatMap((key) => [key, `deep.${key}`])) {
      const where: Where[] = [{ field, op: "eq", value: "here" }];
      const expected = facts.flatMap((data, row) => (matches(data, where) ? [row] : []));
      expect(expected).toHaveLength(1);
      expect(await found(file, where), field).toEqual(expected);
    }
  });

  it("find elements of arrays by their index, and nothing by what only looks like one", async () => {
    const { file } = await testDuck();
    await storing(file, [{ a: ["x", "y"] }, { a: { "1": "y" } }, { a: "y" }]);
    expect(await found(file, [{ field: "a.1", op: "eq", value: "y" }])).toEqual([0, 1]);
    for (const field of ["a.-1", "a.01", "a.+1", "a.#", "a.*", "a.99999999999999999999"]) {
      expect(await found(file, [{ field, op: "eq", value: "y" }]), field).toEqual([]);
    }
  });
});

it("answers random conditions over random data as the plain reference does", async () => {
  const { file } = await testDuck();
  const scalar = fc.constantFrom(...values);
  const value: fc.Arbitrary<JsonValue> = fc.oneof(
    { weight: 4, arbitrary: scalar },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
    fc.tuple(fc.double({ min: -90, max: 90, noNaN: true }), fc.double({ min: -180, max: 180, noNaN: true })),
  );
  const data = fc.oneof(
    fc.dictionary(
      fc.constantFrom("a", "b", "c"),
      fc.oneof(value, fc.dictionary(fc.constantFrom("a", "b"), value)),
    ),
    value,
  ) as fc.Arbitrary<JsonValue>;
  const field = fc.constantFrom("a", "b", "a.b", "c.a", "a.0", "zz");
  const where: fc.Arbitrary<Where> = fc.oneof(
    fc.record({ field, op: fc.constantFrom("eq", "ne", "contains"), value }),
    fc.record({ field, op: fc.constant("in" as const), value: fc.array(value, { maxLength: 4 }) }),
    fc.record({
      field,
      op: fc.constantFrom(...ordered),
      value: fc.oneof(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.integer(),
        fc.string({ unit: "binary" }),
      ),
    }),
    fc.record({
      field,
      op: fc.constant("near" as const),
      value: fc.constantFrom<JsonValue>([48.2, 16.37], { lat: 0, lon: 0 }),
      km: fc.double({ min: 0, max: 20_100, noNaN: true }),
    }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(data, { maxLength: 30 }),
      fc.array(fc.array(where, { maxLength: 2 }), { minLength: 1, maxLength: 8 }),
      async (facts, queries) => {
        await storing(file, facts);
        for (const where of queries) {
          const expected = facts.flatMap((one, row) => (matches(one, where) ? [row] : []));
          expect(await found(file, where)).toEqual(expected);
        }
      },
    ),
    { numRuns: 60 },
  );
});

describe("an error names the wrong value and what would be valid", () => {
  const wrong: readonly [name: string, where: unknown, message: RegExp][] = [
    ["in without an array", { field: "f", op: "in", value: "a" }, /takes an array/],
    [
      "in with too many",
      { field: "f", op: "in", value: Array.from({ length: maxInValues + 1 }, () => 1) },
      /at most 1000/,
    ],
    ["near without km", { field: "f", op: "near", value: [0, 0] }, /write km/],
    ["near with a negative radius", { field: "f", op: "near", value: [0, 0], km: -1 }, /write km/],
    [
      "near with a radius that is not a number",
      { field: "f", op: "near", value: [0, 0], km: Number.NaN },
      /write km/,
    ],
    ["near without a place", { field: "f", op: "near", value: "Vienna", km: 1 }, /\[latitude, longitude\]/],
    ["near beyond the poles", { field: "f", op: "near", value: [90.1, 0], km: 1 }, /±90/],
    ["gt with a truth value", { field: "f", op: "gt", value: true }, /a number or a string/],
    ["lte with null", { field: "f", op: "lte", value: null }, /a number or a string/],
    ["no value", { field: "f", op: "eq" }, /needs a value/],
    ["an unknown op", { field: "f", op: "like", value: 1 }, /use eq, ne/],
    ["an empty field", { field: "", op: "eq", value: 1 }, /dots between/],
    ["an empty key", { field: "a..b", op: "eq", value: 1 }, /dots between/],
    ["a long field", { field: "a".repeat(maxFieldLength + 1), op: "eq", value: 1 }, /at most 512/],
    ["a field that is not a text", { field: 1, op: "eq", value: 1 }, /at most 512/],
    ["a long value", { field: "f", op: "eq", value: "a".repeat(65_537) }, /at most 65536/],
    ["a deep value", { field: "f", op: "eq", value: JSON.parse("[".repeat(40) + "]".repeat(40)) }, /32 deep/],
  ];
  it.each(wrong)("%s", (_, where, message) => {
    expect(() => whereSql([where as Where], "data")).toThrow(message);
    expect(() => whereSql([where as Where], "data")).toThrow(
      expect.objectContaining({ code: "InvalidParams" }),
    );
  });

  it("too many conditions", () => {
    const where = Array.from({ length: maxConditions + 1 }, (): Where => ({
      field: "f",
      op: "eq",
      value: 1,
    }));
    expect(() => whereSql(where, "data")).toThrow(/at most 32 are allowed/);
  });
});

it("stores a value in one form, whatever the order of its keys", () => {
  const value = fc.jsonValue().filter((one) => JSON.stringify(one).isWellFormed());
  fc.assert(
    fc.property(
      fc.oneof(value, fc.dictionary(fc.constantFrom("1", "10", "9", "a", "é", "Z"), value)),
      (one) => {
        expect(storedJson(one)).toBe(canonicalJson(one));
        expect(storedJson(JSON.parse(canonicalJson(one)) as JsonValue)).toBe(canonicalJson(one));
      },
    ),
  );
});

it("interprets nothing in fields and values as SQL", async () => {
  const { file } = await testDuck();
  await storing(file, [{ f: "a" }]);
  for (const text of ["' OR true --", "'; DROP TABLE facts; --", '") OR 1=1', "$1", "?", "\u0000", "%"]) {
    expect(await found(file, [{ field: text.replaceAll(".", ""), op: "eq", value: "a" }])).toEqual([]);
    for (const op of ["eq", "contains", "in"] as const) {
      expect(await found(file, [{ field: "f", op, value: op === "in" ? [text] : text }]), text).toEqual([]);
    }
  }
  expect(await found(file, [])).toEqual([0]);
});
