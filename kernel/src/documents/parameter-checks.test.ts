import { describe, expect, test } from "vitest";
import { checkManifest } from "./manifest.ts";
import { applyEdits } from "./text/apply-edits.ts";
import { marked } from "./testing/marked.ts";
import { manifestPorts } from "./testing/ports.ts";
import type { DocumentFormat } from "./text/source.ts";

const yaml =
  "extension:\n  id: com.example.a\n  name: A\n  version: 1.0.0\n  tools:\n    - name: t\n      description: d\n      handler: t\n      parameters: ";
const toml =
  '[extension]\nid = "com.example.a"\nname = "A"\nversion = "1.0.0"\n[[extension.tools]]\nname = "t"\ndescription = "d"\nhandler = "t"\nparameters = ';

async function check(text: string, format: DocumentFormat) {
  return (await checkManifest(text, `extension.${format}`, manifestPorts())).diagnostics;
}

describe("faults in a tool's parameters", () => {
  test.each<[string, DocumentFormat, string, string, RegExp, string | null]>([
    [
      "a type there is none of",
      "yaml",
      `${yaml}{ type: object, properties: { a: { type: «strnig» } } }`,
      "invalid-parameters",
      /: array, boolean, integer, null, number, object, string\.$/,
      `${yaml}{ type: object, properties: { a: { type: string } } }`,
    ],
    [
      "YAML's null",
      "yaml",
      `${yaml}{ type: object, properties: { a: { type: [string, «null»] } } }`,
      "invalid-parameters",
      /allowed values/,
      `${yaml}{ type: object, properties: { a: { type: [string, "null"] } } }`,
    ],
    [
      "another draft",
      "yaml",
      `${yaml}{ $schema: «https://json-schema.org/draft/2020-12/schema», type: object }`,
      "invalid-parameters",
      /draft-07/,
      `${yaml}{ $schema: "http://json-schema.org/draft-07/schema#", type: object }`,
    ],
    [
      "a slip in a keyword",
      "yaml",
      `${yaml}{ type: object, «propertes»: { a: {} } }`,
      "doubtful-parameters",
      /did you mean "properties"\?/,
      `${yaml}{ type: object, properties: { a: {} } }`,
    ],
    [
      "a slip in a keyword deep down",
      "toml",
      `${toml}{ type = "object", properties = { a = { items = [{ anyOf = [{ «minLenght» = 1 }] }] } } }\n`,
      "doubtful-parameters",
      /did you mean "minLength"\?/,
      `${toml}{ type = "object", properties = { a = { items = [{ anyOf = [{ minLength = 1 }] }] } } }\n`,
    ],
    [
      "a keyword of a later draft",
      "yaml",
      `${yaml}{ type: object, properties: { a: { type: array, «prefixItems»: [] } } }`,
      "doubtful-parameters",
      /Write items with a list of schemas\./,
      null,
    ],
    [
      "a reference to nothing",
      "yaml",
      `${yaml}{ type: object, definitions: { place: {} }, properties: { a: { $ref: «'#/definitions/palce'» } } }`,
      "doubtful-parameters",
      /nothing at "#\/definitions\/palce"/,
      `${yaml}{ type: object, definitions: { place: {} }, properties: { a: { $ref: '#/definitions/place' } } }`,
    ],
    [
      "a reference to elsewhere",
      "toml",
      `${toml}{ type = "object", properties = { a = { "$ref" = «"https://example.org/a.json"» } } }\n`,
      "doubtful-parameters",
      /nothing is fetched/,
      null,
    ],
    [
      "what draft-07 ignores beside a $ref",
      "yaml",
      `${yaml}{ type: object, definitions: { text: { type: string } }, properties: { a: { $ref: '#/definitions/text', description: d, «maxLength»: 9, pattern: "(" } } }`,
      "doubtful-parameters",
      /ignores what stands beside \$ref: nothing is checked by maxLength, pattern\. .* allOf/,
      null,
    ],
    [
      "the same in TOML, for names that have to be given",
      "toml",
      `${toml}{ type = "object", items = { "$ref" = "#", «required» = ["b"], additionalProperties = false } }\n`,
      "doubtful-parameters",
      /nothing is checked by required, additionalProperties/,
      null,
    ],
    [
      "a property of Unicode that RE2 does not have",
      "yaml",
      `${yaml}{ type: object, properties: { a: { pattern: «'^\\p{ASCII}+$'» } } }`,
      "doubtful-parameters",
      /each call of "t" fails: .*\\p\{ASCII\}/,
      null,
    ],
    [
      "a pattern that is none",
      "yaml",
      `${yaml}{ type: object, properties: { a: { pattern: «"a(b"» } } }`,
      "doubtful-parameters",
      /each call of "t" fails: missing closing \)/,
      null,
    ],
    [
      "a pattern that RE2 does not have, for names",
      "yaml",
      `${yaml}{ type: object, patternProperties: { «"(?=a)"»: {} } }`,
      "doubtful-parameters",
      /Perl syntax/,
      null,
    ],
    [
      "a name that has to be given and must not be",
      "yaml",
      `${yaml}{ type: object, additionalProperties: false, properties: { about: {} }, required: [«abuot»] }`,
      "doubtful-parameters",
      /no others are allowed/,
      `${yaml}{ type: object, additionalProperties: false, properties: { about: {} }, required: [about] }`,
    ],
  ])("%s", async (_name, format, source, code, message, mended) => {
    const { text, range } = marked(source);
    const found = await check(text, format);
    expect(found).toMatchObject([{ code, range }]);
    expect(found[0]?.message).toMatch(message);
    if (mended === null) return;
    expect(applyEdits(text, found[0]?.fixes[0]?.edits ?? [])).toBe(mended);
    expect(await check(mended, format)).toEqual([]);
  });

  test.each<[string, string]>([
    ["a property that is called like no keyword", "{ type: object, properties: { propertes: {} } }"],
    ["a value like a schema", "{ type: object, default: { propertes: 1 }, enum: [{ typ: 1 }] }"],
    ["somebody's own keyword", "{ type: object, x-order: 1, example: {}, title: T }"],
    [
      "words beside a $ref",
      "{ type: object, $defs: { p: {} }, $ref: '#/$defs/p', title: T, description: d, $comment: c, examples: [1], x-own: 1 }",
    ],
    [
      "a property that is called $ref",
      "{ type: object, properties: { $ref: { type: string }, maxLength: {} } }",
    ],
    ["a reference to the whole", "{ type: object, properties: { more: { $ref: '#' } } }"],
    [
      "references by addresses of its own",
      "{ type: object, properties: { a: { $id: '#a' }, b: { $ref: '#a' } } }",
    ],
    ["the draft that is meant", "{ type: object, $schema: 'http://json-schema.org/draft-07/schema' }"],
    ["what may be given under other names", "{ type: object, required: [a] }"],
    [
      "names by patterns",
      "{ type: object, additionalProperties: false, patternProperties: { ^a: {} }, required: [a] }",
    ],
    ["a dependency", "{ type: object, dependencies: { a: [b], c: { minProperties: 2 } } }"],
    [
      "more steps than are looked at",
      `{ type: object, properties: { a: { pattern: '(?=${"a".repeat(20_000)})' } } }`,
    ],
  ])("nothing: %s", async (_name, parameters) => {
    expect(await check(yaml + parameters, "yaml")).toEqual([]);
  });

  test("very many doubts are bounded", async () => {
    const many = Array.from({ length: 1500 }, (_, index) => `a${index}: { patern: "(", pattern: "(" }`);
    const found = await check(`${yaml}{ type: object, properties: { ${many.join(", ")} } }`, "yaml");
    expect(found).toHaveLength(100);
  });
});
