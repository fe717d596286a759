import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { argumentFormats } from "../../tools/argument-formats.ts";
import type { DocumentFormat } from "../text/source.ts";
import { formatNames, keywords } from "../schema/json-schema.ts";
import { accepted, labels, proposals, T, Y } from "./testing/typing.ts";

const yaml = `${Y}  tools:\n    - name: t\n      description: d\n      handler: t\n      parameters:`;
const toml = `${T}[[extension.tools]]\nname = "t"\n[extension.tools.parameters]\n`;
const types = ["string", "number", "integer", "boolean", "array", "object", "null"];

test("the keywords are those that arguments are checked against", () => {
  const { all, keywords: known } = new Ajv({ strict: false }).RULES;
  const missing = Object.keys(all).filter((name) => !Object.hasOwn(keywords, name));
  // ajv refuses `id`, and hands on to `items` what its `additionalItems` says.
  expect(missing).toEqual(["id"]);
  expect(Object.keys(keywords).filter((name) => known[name] === undefined)).toEqual([]);
});

test("the formats are those that tools support", () => {
  expect(formatNames.toSorted()).toEqual(Object.keys(argumentFormats).toSorted());
});

describe("proposals in a tool's parameters", () => {
  test.each<[string, DocumentFormat, string, string[]]>([
    ["the only type they have", "yaml", `${yaml} { type: | }`, ["object"]],
    ["types", "yaml", `${yaml}\n        properties: { a: { type: | } }`, types],
    ["several types", "yaml", `${yaml}\n        properties: { a: { type: [string, |] } }`, types],
    ["types in TOML", "toml", `${toml}properties.a.type = "|"`, types],
    ["nothing as a property's name", "yaml", `${yaml}\n        properties:\n          |`, []],
    ["formats", "toml", `${toml}properties.a = { type = "string", format = | }`, [...formatNames]],
    [
      "whether there are others",
      "yaml",
      `${yaml}\n        type: object\n        additionalProperties: |`,
      ["true", "false"],
    ],
    [
      "names of the properties",
      "yaml",
      `${yaml}\n        properties: { a: {}, b: {} }\n        required: [a, |]`,
      ["b"],
    ],
    [
      "the same, of the map they are in",
      "yaml",
      `${yaml}\n        properties: { a: { properties: { c: {} }, required: | }, b: {} }`,
      ["c"],
    ],
    [
      "the same, line by line",
      "yaml",
      `${yaml}\n        properties: { a: {}, b: {} }\n        required:\n          - b\n          - |`,
      ["a"],
    ],
    ["the same in TOML", "toml", `${toml}required = ["a", "|"]\nproperties = { a = {}, b = {} }`, ["b"]],
    [
      "what a property needs beside it",
      "yaml",
      `${yaml}\n        properties: { a: {}, b: {} }\n        dependencies: { a: [|] }`,
      ["a", "b"],
    ],
    ["a property that is called required", "yaml", `${yaml}\n        properties: { required: [|] }`, []],
    [
      "what $ref may name",
      "yaml",
      `${yaml}\n        properties: { a: { $ref: "|" } }\n        definitions: { "a b": {}, c/d: {} }`,
      ["#/definitions/a%20b", "#/definitions/c~1d", "#"],
    ],
    [
      "one of the choices as the default",
      "yaml",
      `${yaml}\n        properties: { a: { enum: [x, 2], default: | } }`,
      ["x", "2"],
    ],
    ["nothing within a value", "yaml", `${yaml}\n        properties: { a: { default: { | } } }`, []],
  ])("%s", async (_name, format, source, expected) => {
    expect(await labels("manifest", format, source)).toEqual(expected);
  });

  test.each<[string, DocumentFormat, string, string[], string[]]>([
    [
      "keywords of a map first where it is one",
      "yaml",
      `${yaml}\n        type: object\n        |`,
      ["properties", "required", "additionalProperties"],
      ["minLength", "minItems", "minimum", "type"],
    ],
    [
      "of a text",
      "yaml",
      `${yaml}\n        properties:\n          a:\n            type: string\n            |`,
      ["minLength", "maxLength", "pattern"],
      ["properties", "minimum"],
    ],
    [
      "of a list, in a list of TOML",
      "toml",
      `${toml}anyOf = [{ properties = { a = { type = "array", | } } }]`,
      ["items", "minItems"],
      ["properties", "pattern"],
    ],
    [
      "of everything where no type is said",
      "yaml",
      `${yaml}\n        properties: { a: { | } }`,
      ["type"],
      [],
    ],
    [
      "tables, in TOML",
      "toml",
      `${toml}type = "object"\n|`,
      ["additionalProperties", "[extension.tools.parameters.properties]"],
      ["properties"],
    ],
  ])("%s", async (_name, format, source, expected, absent) => {
    const found = await labels("manifest", format, source);
    expect(found).toEqual(expect.arrayContaining(expected));
    for (const name of absent) expect(found).not.toContain(name);
  });

  test("the name of a type that YAML would read as null is quoted", async () => {
    const source = `${yaml} { properties: { a: { type: | } } }`;
    expect(await accepted("manifest", "yaml", source, "null")).toContain('type: "null" }');
  });

  test.each<[DocumentFormat, string, string]>([
    ["yaml", `${yaml} |`, "{ type: object, properties: { $1 } }"],
    ["toml", `${T}[[extension.tools]]\nparameters = |`, '{ type = "object", properties = { $1 } }'],
  ])("a map in one go: %s", async (format, source, expected) => {
    const { items } = await proposals("manifest", format, source, true);
    expect(items.map(({ newText }) => newText)).toContain(expected);
  });
});
