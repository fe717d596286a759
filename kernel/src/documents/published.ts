import { isJsonObject } from "../base/json.ts";
import { foreignFields } from "./foreign-manifest.ts";
import { Lares } from "./schema/lares.ts";
import { Manifest } from "./schema/manifest.ts";

const draft = "http://json-schema.org/draft-07/schema#";

/** The JSON Schemas (draft-07) of the documents people write, by file name, as they are published. */
export function publishedDocumentSchemas(): Record<string, object> {
  return {
    "lares.schema.json": { $schema: draft, ...forOtherTools(Lares) },
    "extension.schema.json": { $schema: draft, ...unlessForeign(forOtherTools(Manifest)) },
  };
}

/** A pattern that every name matches. */
const anyName = "^.*$";

/** The same schema in words that the tools for YAML and TOML in use understand alike. */
function forOtherTools(schema: object): object {
  // As it is written into the file: symbols and undefined are not part of it.
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) =>
    isJsonObject(value) ? withPlainMap(withPlainChoice(value)) : value,
  ) as object;
}

/**
 * A map as `additionalProperties`: Tombi refuses every key of one that is said as a pattern that matches all names. What
 * may be anything is `true`: of `{}` Tombi permits anything but tables with keys.
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
 * A choice between words as `enum`, explained in its description: of a union of constants Tombi shows each word's page
 * and each word's fault, and Taplo names none of them in its one.
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
  // A list begins after an empty line, in what shows descriptions as Markdown.
  const description = [...about, ...(explained.length > 0 ? [explained.join("\n")] : [])].join("\n\n");
  return {
    ...rest,
    ...(description === "" ? {} : { description }),
    type: "string",
    enum: words.map(({ const: word }) => word),
  };
}

/**
 * A manifest's schema that has nothing to say of other products' manifests: tools choose it by the file's name alone.
 *
 * Every part says what it makes of other fields: Tombi takes one that says nothing for one that permits none, the
 * condition's own too.
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
