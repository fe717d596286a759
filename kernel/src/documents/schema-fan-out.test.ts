import { expect, test } from "vitest";
import { countSubschemas, maxSubschemas } from "./schema-fan-out.ts";

const tooMany = maxSubschemas + 1;
const reference = (level: number): object => ({ $ref: `#/$defs/d${level}` });

/** Levels of definitions, each made of references to the next. */
function levels(count: number, level: (next: object) => object): Record<string, unknown> {
  const definitions: Record<string, object> = { [`d${count}`]: { type: "string" } };
  for (let index = 0; index < count; index++) definitions[`d${index}`] = level(reference(index + 1));
  return { type: "object", allOf: [reference(0)], $defs: definitions };
}

test.each<[string, Record<string, unknown>, number]>([
  ["a schema", { type: "object" }, 1],
  ["properties are one more, with a value of their own each", { properties: { a: {}, b: true } }, 3],
  ["what is named twice counts twice", { items: [reference(0), reference(0)], $defs: { d0: {} } }, 5],
  ["values are no schemas", { enum: [{}, {}], const: {}, default: {}, examples: [{}] }, 1],
  ["definitions nobody names are none", { $defs: { d0: {}, d1: {} } }, 1],
  ["what names itself ends", { properties: { next: { $ref: "#" } } }, 3],
  [
    "a name that leads nowhere is one",
    { items: { $ref: "#/$defs/%zz/none" }, not: { $ref: "https://a.b" } },
    3,
  ],
  ["names are escaped", { items: { $ref: "#/$defs/a~1b%20c" }, $defs: { "a/b c": { not: {} } } }, 4],
  ["2^40 comparisons in one place", levels(40, (next) => ({ allOf: [next, next] })), tooMany],
  ["2^40 below each other", levels(40, (next) => ({ properties: { a: next, b: next } })), tooMany],
  ["a chain of thousands", levels(5000, (next) => next), tooMany],
])("%s", (_name, schema, count) => {
  expect(countSubschemas(schema)).toBe(count);
});
