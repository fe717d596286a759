import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { sampleGrammar } from "../../testing/grammar-sampler.ts";
import { seeded } from "../../../../../test/support/seed.ts";
import { integersBetween } from "./grammar-text.ts";
import { SchemaGrammar } from "./schema-grammar.ts";

const validators = new Ajv2020({ strict: false });

function grammarOf(schema: unknown): string {
  const grammar = new SchemaGrammar();
  return grammar.text(grammar.valueOf(schema));
}

/** Returns texts that a model with random weights may write. */
function written(schema: unknown, count: number, seed = 1): string[] {
  const random = seeded(seed);
  const text = grammarOf(schema);
  return Array.from({ length: count }, () => sampleGrammar(text, (below) => Math.floor(random() * below)));
}

function check(schema: object, count = 40, seed = 1): void {
  const isValid = validators.compile(schema);
  for (const text of written(schema, count, seed)) {
    const value: unknown = JSON.parse(text);
    if (!isValid(value))
      expect.unreachable(
        `${text} does not fit ${JSON.stringify(schema)}: ${validators.errorsText(isValid.errors)}`,
      );
  }
}

const person = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 5 },
    age: { type: "integer", minimum: 0, maximum: 150 },
    mail: { type: ["string", "null"] },
    tags: { type: "array", items: { enum: ["a", "b", 3, null] }, minItems: 1, maxItems: 4 },
  },
  required: ["name", "tags"],
  additionalProperties: false,
};

test.each([
  ["an object with optional properties", person],
  ["no schema", {}],
  ["text of a bounded length", { type: "string", minLength: 2, maxLength: 4 }],
  ["a text that is given", { const: 'a "quoted" \\ line\nand é 😀' }],
  ["numbers from zero", { type: "number", minimum: 0 }],
  ["integers above and below", { type: "integer", exclusiveMinimum: -13, exclusiveMaximum: 7 }],
  ["any integer", { type: "integer" }],
  [
    "a list with a fixed beginning",
    { type: "array", prefixItems: [{ type: "boolean" }, person], minItems: 3, items: { type: "integer" } },
  ],
  ["an empty list", { type: "array", maxItems: 0 }],
  ["a map", { type: "object", additionalProperties: { type: "boolean" }, minProperties: 0 }],
  ["one of several", { anyOf: [{ type: "null" }, person, { type: "array", items: { type: "string" } }] }],
  [
    "parts together",
    {
      allOf: [
        { type: "object", properties: { a: { type: "integer" } }, required: ["a"] },
        { properties: { b: { type: "boolean" } }, required: ["b"] },
      ],
    },
  ],
  ["a required property that is not described", { type: "object", required: ["x"] }],
  [
    "a schema that contains itself",
    {
      $defs: {
        tree: {
          type: "object",
          properties: { left: { $ref: "#/$defs/tree" }, size: { type: "integer" } },
          required: ["size"],
        },
      },
      $ref: "#/$defs/tree",
    },
  ],
])("whatever a model writes fits: %s", (_what, schema) => check(schema, 80));

test("optional properties are left out and written, alone and together", () => {
  const schema = { type: "object", properties: { a: { const: 1 }, b: { const: 2 } } };
  const texts = new Set(written(schema, 300).map((text) => text.replaceAll(" ", "")));
  expect([...texts].toSorted()).toEqual(['{"a":1,"b":2}', '{"a":1}', '{"b":2}', "{}"]);
});

const scalars = fc.oneof(
  fc.constantFrom({ type: "string" }, { type: "number" }, { type: "boolean" }, { type: "null" }, {}),
  fc
    .tuple(fc.integer({ min: -5000, max: 5000 }), fc.nat(9000))
    .map(([minimum, more]) => ({ type: "integer", minimum, maximum: minimum + more })),
  fc
    .tuple(fc.nat(3), fc.nat(3))
    .map(([least, more]) => ({ type: "string", minLength: least, maxLength: least + more })),
  fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 3 }).map((values) => ({ enum: values })),
);
const schemas = fc.letrec((tie) => ({
  schema: fc.oneof(
    { depthSize: "small" },
    scalars,
    fc
      .tuple(tie("schema"), fc.nat(2), fc.nat(2))
      .map(([items, least, more]) => ({ type: "array", items, minItems: least, maxItems: least + more })),
    fc
      .tuple(fc.dictionary(fc.string({ maxLength: 6 }), tie("schema"), { maxKeys: 4 }), fc.nat(15))
      .map(([properties, mask]) => ({
        type: "object",
        properties,
        required: Object.keys(properties).filter((_name, at) => (mask >> at) % 2 === 1),
      })),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
  ),
})).schema;

test("whatever a model writes fits a generated schema", () => {
  fc.assert(
    fc.property(schemas, fc.nat(), (schema, seed) => check(schema, 8, seed)),
    { numRuns: 100 },
  );
});

test("the integers of a range are exactly those", () => {
  fc.assert(
    fc.property(fc.integer({ min: -1200, max: 1200 }), fc.nat(1500), (least, more) => {
      const pattern = new RegExp(
        `^(?:${integersBetween(least, least + more)
          .replaceAll('"', "")
          .replaceAll(" ", "")})$`,
      );
      for (const value of [least - 1, least, least + 1, least + more, least + more + 1, 0, -1, 10 * least, 7])
        expect([value, pattern.test(String(value))]).toEqual([
          value,
          value >= least && value <= least + more,
        ]);
    }),
  );
});

test("a schema that grows with each of its levels is bounded", () => {
  const node = { anyOf: [{ $ref: "#/$defs/n" }, { $ref: "#/$defs/n" }], type: "object" };
  const text = grammarOf({ $defs: { n: { allOf: [node, node] } }, $ref: "#/$defs/n", properties: {} });
  expect(text.length).toBeLessThan(2_000_000);
});
