import { expect, test } from "vitest";
import { guestCalls } from "../protocol/guest/v1/calls.ts";
import { validate } from "../protocol/validate.ts";
import { jsonExample } from "./json-example.ts";

test.each(Object.entries(guestCalls))("the made-up result of %s fits its schema", (_method, { result }) => {
  expect(validate(result, jsonExample(result))).toBeNull();
});

test.each([
  [{ type: "string", minLength: 9 }, "examplexx"],
  [{ type: "string", maxLength: 3 }, "exa"],
  [{ type: "string", enum: ["red", "blue"] }, "red"],
  [{ type: "integer", minimum: 5, maximum: 9 }, 5],
  [{ type: "number", exclusiveMinimum: 3 }, 4],
  [{ type: "number", maximum: 0.5 }, 0.5],
  [{ type: "array", minItems: 2, items: { type: "boolean" } }, [true, true]],
  [{ type: ["null", "string"] }, null],
  [{ anyOf: [{ const: 7 }, { type: "string" }] }, 7],
  [
    {
      type: "object",
      required: ["path", "limit"],
      properties: {
        path: { type: "string" },
        limit: { type: "integer", default: 20 },
        more: { type: "string" },
      },
    },
    { path: "notes/example.md", limit: 20 },
  ],
])("%j → %j", (schema, value) => expect(jsonExample(schema)).toEqual(value));

test.each<[string, Record<string, unknown>]>([
  ["items", { type: "array", minItems: 4_294_967_295, items: { type: "array", minItems: 1e9 } }],
  ["characters", { type: "string", minLength: 2 ** 40 }],
  ["texts", { type: "array", minItems: 1e6, items: { type: "string", minLength: 1e6 } }],
  ["values of its own", { type: "array", minItems: 1e6, items: { const: "x".repeat(100_000) } }],
  ["parts", { allOf: Array.from({ length: 300_000 }, () => ({ type: "object" })) }],
])("a schema that asks for too many %s gives a value that does not fill the memory", (_what, schema) => {
  expect(JSON.stringify(jsonExample(schema)).length).toBeLessThan(400_000);
});

test("a schema whose parts refer to each other many times gives a value soon", () => {
  let schema: Record<string, unknown> = { type: "string" };
  for (let level = 0; level < 8; level++) {
    const names = Array.from({ length: 20 }, (_, n) => `n${n}`);
    schema = {
      type: "object",
      required: names,
      properties: Object.fromEntries(names.map((name) => [name, schema])),
    };
  }
  expect(JSON.stringify(jsonExample(schema)).length).toBeLessThan(1_000_000);
});

test("a schema that refers to itself without end gives a value", () => {
  const schema: Record<string, unknown> = { type: "object", required: ["next"] };
  schema["properties"] = { next: schema };
  expect(JSON.stringify(jsonExample(schema))).toMatch(/^(\{"next":)+null\}+$/);
});
