import { readFile } from "node:fs/promises";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { publishedDocumentSchemas } from "./published.ts";

describe("the published schema", () => {
  for (const [name, schema] of Object.entries(publishedDocumentSchemas())) {
    test(`${name} is the one in schemas/ (else: npm run build:schemas)`, async () => {
      const published = await readFile(new URL(`../../../schemas/${name}`, import.meta.url), "utf8");
      expect(JSON.parse(published)).toEqual(JSON.parse(JSON.stringify(schema)));
    });

    test(`${name} has no pattern that means any name, which Tombi does not take for one`, () => {
      const text = JSON.stringify(schema);
      expect(text).toContain('"additionalProperties":true');
      expect(text).not.toContain('"additionalProperties":{}');
      expect(text).not.toContain("^.*$");
    });

    test(`${name} has no choice between words as a union, of which tools tell each word's fault`, () => {
      const text = JSON.stringify(schema);
      expect(text).toContain('"enum":["debug","info","warn","error"]');
      expect(text).toContain("- info: What it does\\n- warn:");
      expect(text).not.toMatch(/"anyOf":\[(\{[^{}]*"const":"[^{}]*\},?)+\]/);
    });

    test(`${name} compiles in strict mode`, () => {
      expect(() => new Ajv({ strict: true, allErrors: true }).compile(schema)).not.toThrow();
    });

    test(`${name} is draft-07 and permits a $schema key`, () => {
      expect(new Ajv({ strict: true, allowUnionTypes: true }).validateSchema(schema)).toBe(true);
      expect(schema).toMatchObject({
        $schema: "http://json-schema.org/draft-07/schema#",
        properties: { $schema: { type: "string" } },
      });
    });
  }
});
