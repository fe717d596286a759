import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileSchema } from "./argument-validator.ts";
import { plainSchema } from "./plain-schema.ts";

const name = fc.constantFrom("a", "b", "toString", "__proto__", "length", "");
const text = fc.oneof(
  fc.string({ maxLength: 4, unit: "binary" }),
  fc.constantFrom("\ud800", "😀", "😀\udc00"),
);
const scalar = fc.oneof(fc.constantFrom(null, true, 0, -0, 1, 1.5, 2 ** 53), text);

const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 3 }),
  ),
})).value;

const count = fc.oneof(fc.nat(3), fc.constantFrom<unknown>(-1, 1.5, "1"));
const bound = fc.oneof(fc.constantFrom<unknown>(0, 1, 1.5, -1, "1"));
const type = fc.constantFrom("string", "number", "integer", "boolean", "null", "object", "array", "text");

const schema = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.boolean(),
    fc.record(
      {
        title: fc.constantFrom<unknown>("t", 1),
        default: scalar,
        type: fc.oneof(type, fc.array(type, { maxLength: 3 })),
        enum: fc.array(scalar, { maxLength: 3 }),
        const: scalar,
        minimum: bound,
        maximum: bound,
        exclusiveMinimum: bound,
        exclusiveMaximum: bound,
        minLength: count,
        maxLength: count,
        minItems: count,
        maxItems: count,
        items: fc.oneof(tie("schema"), fc.array(tie("schema"), { maxLength: 2 })),
        required: fc.array(fc.oneof(name, fc.constant(1)), { maxLength: 2 }),
        properties: fc.dictionary(name, tie("schema"), { maxKeys: 3 }),
        additionalProperties: tie("schema"),
        pattern: fc.constant("a"),
        uniqueItems: fc.boolean(),
      },
      { requiredKeys: [], noNullPrototype: true },
    ),
  ),
})).schema;

/** As it comes from a document or from the wire. */
const parsed = <Value>(given: Value): Value => JSON.parse(JSON.stringify(given)) as Value;

describe("a plain schema", () => {
  test("accepts exactly what the validator accepts, and is valid for it", () => {
    let plain = 0;
    let fitting = 0;
    fc.assert(
      fc.property(schema, fc.array(value, { minLength: 1, maxLength: 5 }), (given, values) => {
        const written = parsed(given) as object | boolean;
        const fits = plainSchema(written);
        if (fits === null) return;
        plain += 1;
        const validate = compileSchema(written);
        for (const each of parsed(values)) {
          expect(fits(each)).toBe(validate(each));
          fitting += fits(each) ? 1 : 0;
        }
      }),
      { numRuns: 3000 },
    );
    // Or this would compare nothing.
    expect(plain).toBeGreaterThan(300);
    expect(fitting).toBeGreaterThan(300);
  });

  test.each([
    [
      { type: "object", properties: { n: { type: "integer", minimum: 0 } }, required: ["n"] },
      { n: 1 },
      { n: -1 },
    ],
    [{ type: "array", items: { enum: ["a", null] }, maxItems: 2 }, ["a", null], ["a", "b"]],
    [{ type: ["string", "null"], minLength: 2, maxLength: 2 }, "😀a", "a"],
    [{ type: "object", additionalProperties: { type: "boolean" } }, { a: true }, { a: 1 }],
  ])("%j", (given, fitting, unfit) => {
    const fits = plainSchema(given);
    expect([fits?.(fitting), fits?.(unfit)]).toEqual([true, false]);
  });

  test.each([
    { $ref: "#" },
    { $id: "x" },
    { pattern: "a" },
    { format: "date" },
    { allOf: [{}] },
    { anyOf: [{}] },
    { if: {} },
    { patternProperties: {} },
    { dependencies: {} },
    { uniqueItems: true },
    { items: [{}] },
    { enum: [{}] },
    { enum: [1, 1] },
    { type: "text" },
    { properties: { deep: { properties: { deeper: { type: "text" } } } } },
    { unknown: 1 },
    { enum: Array.from({ length: 501 }, (_, n) => n) },
    { properties: Object.fromEntries(Array.from({ length: 501 }, (_, n) => [`p${n}`, {}])) },
    null,
    "schema",
  ])("%j is not one", (given) => {
    expect(plainSchema(given)).toBeNull();
  });

  test("is not one if it is deep, or if it is its own part", () => {
    let deep: object = {};
    for (let n = 0; n < 40; n++) deep = { items: deep };
    expect(plainSchema(deep)).toBeNull();
    const own: Record<string, unknown> = {};
    own["items"] = own;
    expect(plainSchema(own)).toBeNull();
  });

  test.each([
    ["a list of many values", { items: { type: "integer" } }, Array.from({ length: 2001 }, (_, n) => n)],
    ["an object of many names", {}, Object.fromEntries(Array.from({ length: 2001 }, (_, n) => [n, n]))],
    ["a long text near a bound", { maxLength: 200_000 }, "😀".repeat(100_001)],
    [
      "many required names for many objects",
      { items: { required: Array.from({ length: 400 }, (_, n) => `p${n}`) } },
      Array.from({ length: 6 }, () =>
        Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`p${n}`, n])),
      ),
    ],
  ])("has no verdict about %s", (_, given, much) => {
    expect(compileSchema(given)(much)).toBe(true);
    expect(plainSchema(given)?.(much)).toBe(false);
  });
});
