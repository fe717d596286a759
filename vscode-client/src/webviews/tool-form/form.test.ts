import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fieldsOf, maxDepth, maxFields, type Field } from "./fields.ts";
import { argumentsOf, draftOf } from "./values.ts";

const form = (properties: Record<string, unknown>, required: string[] = []): readonly Field[] => {
  const fields = fieldsOf({ type: "object", properties, required });
  if (fields === undefined) throw new Error("It is no form.");
  return fields;
};
const kindOf = (schema: unknown): string | undefined => form({ a: schema })[0]?.type.kind;

describe("a schema's fields", () => {
  it.each([
    [{ type: "string" }, "text"],
    [{ type: "integer", minimum: 1 }, "number"],
    [{ type: "boolean" }, "boolean"],
    [{ enum: ["a", 1, null] }, "choice"],
    [{ const: "a" }, "choice"],
    [{ anyOf: [{ const: "a" }, { const: "b" }] }, "choice"],
    [{ type: "array", items: { type: "string" } }, "list"],
    [{ type: "object", properties: { b: { type: "string" } } }, "group"],
    [{ enum: [{ a: 1 }] }, "json"],
    [{ anyOf: [{ type: "string" }, { type: "number" }] }, "json"],
    [{ $ref: "#/definitions/a" }, "json"],
    [{ type: "array", items: { type: "array" } }, "json"],
    [{ type: ["string", "null"] }, "json"],
    [{ type: "object" }, "json"],
    [{}, "json"],
    [true, "json"],
    ["nonsense", "json"],
  ])("%j is %s", (schema, kind) => expect(kindOf(schema)).toBe(kind));

  it("is missing if the parameters are not exactly one object", () => {
    expect(fieldsOf({ type: "array" })).toBeUndefined();
    expect(fieldsOf({ type: "object", oneOf: [] })).toBeUndefined();
    expect(fieldsOf({})).toEqual([]);
  });

  it("ends at a depth and a number of fields; what is beyond is JSON", () => {
    let schema: unknown = { type: "string" };
    for (let level = 0; level < 10; level++) schema = { type: "object", properties: { deeper: schema } };
    const depthOf = ({ type }: Field): number =>
      type.kind === "group" ? 1 + Math.max(...type.fields.map(depthOf)) : 1;
    expect(depthOf(form({ a: schema })[0] as Field)).toBe(maxDepth);
    const wide = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`f${index}`, { type: "string" }]),
    );
    const groups = Object.fromEntries(
      Array.from({ length: 10 }, (_, index) => [`g${index}`, { type: "object", properties: wide }]),
    );
    const sizeOf = (fields: readonly Field[]): number =>
      fields.reduce((sum, { type }) => sum + 1 + (type.kind === "group" ? sizeOf(type.fields) : 0), 0);
    expect(sizeOf(form(groups))).toBeLessThanOrEqual(maxFields);
  });

  it("throws at no schema", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (parameters, inner) => {
        const fields = fieldsOf({ ...parameters, type: "object", properties: { a: inner } });
        if (fields !== undefined) argumentsOf(fields, draftOf(fields));
      }),
    );
  });
});

describe("a form's arguments", () => {
  const fields = form(
    {
      room: { enum: ["garden", 2, null] },
      guests: { type: "integer", minimum: 1, maximum: 12 },
      price: { type: "number", exclusiveMinimum: 0 },
      breakfast: { type: "boolean" },
      note: { type: "string", maxLength: 3 },
      tags: { type: "array", items: { type: "string", minLength: 1 }, minItems: 1 },
      contact: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string", minLength: 1 }, age: { type: "integer" } },
      },
      extra: {},
    },
    ["guests"],
  );

  it("are restored unchanged, whatever they are", () => {
    const given = {
      room: null,
      guests: 2,
      price: 1.5,
      breakfast: false,
      note: "ab",
      tags: ["x", "y"],
      contact: { name: "n", age: 3 },
      extra: { deep: [1, "2"] },
    };
    expect(argumentsOf(fields, draftOf(fields, given))).toEqual({ ok: true, value: given });
  });

  it("leave out what is empty and need not be there, a whole group too", () =>
    expect(argumentsOf(fields, { ...draftOf(fields), guests: "3" })).toEqual({
      ok: true,
      value: { guests: 3 },
    }));

  it.each([
    ["what is needed and missing", {}, "guests", "This is needed."],
    ["no number", { guests: "many" }, "guests", "A number, please."],
    ["spaces for a number", { guests: " " }, "guests", "A number, please."],
    ["a part of a guest", { guests: "1.5" }, "guests", "A whole number, please."],
    ["too many", { guests: "13" }, "guests", "At most 12, please."],
    ["at an excluded bound", { price: "0" }, "price", "More than 0, please."],
    [
      "too long, counted in characters",
      { note: "👩👩👩👩" },
      "note",
      "At most 3 characters, please; these are 4.",
    ],
    ["an entry of a list", { tags: ["x", ""] }, "tags.1", "This is needed."],
    ["half a group", { contact: { name: "", age: "3" } }, "contact.name", "This is needed."],
  ])("say what is wrong: %s", (_name, draft, path, problem) => {
    const read = argumentsOf(fields, { ...draftOf(fields), ...draft });
    expect(read.ok ? undefined : read.problems.get(path)).toBe(problem);
  });

  it("report invalid JSON", () => {
    const read = argumentsOf(fields, { guests: "1", extra: "{" });
    expect(read.ok ? undefined : read.problems.get("extra")).toContain("This is not valid JSON");
  });

  it("keep a text of 3 characters that are more units", () =>
    expect(argumentsOf(fields, { guests: "1", note: "👩👩👩" }).ok).toBe(true));

  it("name members as they are, __proto__ included, without touching any prototype", () => {
    const strange = form(
      JSON.parse('{"__proto__": {"type": "string"}, "constructor": {"type": "string"}}') as object as Record<
        string,
        unknown
      >,
    );
    const read = argumentsOf(strange, { ...draftOf(strange), constructor: "c" });
    expect(read.ok && Object.hasOwn(read.value, "constructor")).toBe(true);
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  });
});
