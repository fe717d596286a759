import { isJsonObject } from "../base/json.ts";
import { foreignFields } from "./foreign-manifest.ts";
import { Lares } from "./schema/lares.ts";
import { Manifest } from "./schema/manifest.ts";

const draft = "http://json-schema.org/draft-07/schema#";

/** The published JSON Schemas (draft-07) of the documents, by file name. */
export function publishedDocumentSchemas(): Record<string, object> {
  return {
    "lares.schema.json": { $schema: draft, ...forOtherTools(Lares) },
    "extension.schema.json": { $schema: draft, ...unlessForeign(forOtherTools(Manifest)) },
  };
}

/** A pattern that matches every name. */
const anyName = "^.*$";

/** Returns an equivalent schema that common YAML and TOML tools all interpret alike. */
function forOtherTools(schema: object): object {
  // In its serialized form: without symbols and undefined.
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) =>
    isJsonObject(value) ? withPlainMap(withPlainChoice(value)) : value,
  ) as object;
}

/**
 * Writes a map as `additionalProperties`: if a map is a pattern that matches all names, Tombi refuses every key. A
 * schema that allows everything is `true`, because Tombi reads `{}` as everything except tables with keys.
 */
function withPlainMap(schema: Record<string, unknown>): Record<string, unknown> {
  const { patternProperties, ...rest } = schema;
  if (!isJsonObject(patternProperties)) return schema;
  const patterns = Object.keys(patternProperties);
  if (patterns.length !== 1 || patterns[0] !== anyName) return schema;
  const each = patternProperties[anyName];
  const isAnything = isJsonObject(each) && Object.keys(each).length === 0;
  return { ...rest, additionalProperties: isAnything ? true : each };
}

/**
 * Writes a choice of constants as `enum` and moves the explanations to the description: Tombi shows a page and an
 * error for each constant of a union, and Taplo's error lists none of them.
 */
function withPlainChoice(schema: Record<string, unknown>): Record<string, unknown> {
  const { anyOf, ...rest } = schema;
  if (
    !Array.isArray(anyOf) ||
    !anyOf.every((each) => isJsonObject(each) && typeof each["const"] === "string")
  )
    return schema;
  const words = anyOf as readonly { const: string; description?: string }[];
  const explained = words.flatMap(({ const: word, description }) =>
    description === undefined ? [] : [`- ${word}: ${description}`],
  );
  const about = typeof rest["description"] === "string" ? [rest["description"]] : [];
  // Markdown needs an empty line before a list.
  const description = [...about, ...(explained.length > 0 ? [explained.join("\n")] : [])].join("\n\n");
  return {
    ...rest,
    ...(description === "" ? {} : { description }),
    type: "string",
    enum: words.map(({ const: word }) => word),
  };
}

/**
 * Wraps a manifest's schema so that it does not apply to other products' manifests, because tools select it only
 * by file name. Every part, including the condition, says how to treat other fields, because Tombi forbids them by
 * default.
 */
function unlessForeign(schema: object): object {
  const open = { type: "object", additionalProperties: true };
  const { required, additionalProperties, properties } = schema as {
    required: string[];
    additionalProperties: boolean;
    properties: Record<string, object>;
  };
  return {
    ...schema,
    required: undefined,
    ...open,
    if: {
      ...open,
      properties: { extension: false },
      anyOf: foreignFields.map((field) => ({ ...open, properties: { [field]: true }, required: [field] })),
    },
    else: {
      type: "object",
      required,
      properties: Object.fromEntries(Object.keys(properties).map((name) => [name, true])),
      additionalProperties,
    },
  };
}
