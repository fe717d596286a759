import { isJsonObject } from "../base/json.ts";
import { Lares } from "./schema/lares.ts";
import { Manifest } from "./schema/manifest.ts";

const draft = "http://json-schema.org/draft-07/schema#";

/** The JSON Schemas (draft-07) of the documents people write, by file name, as they are published. */
export function publishedDocumentSchemas(): Record<string, object> {
  return {
    "lares.schema.json": { $schema: draft, ...forOtherTools(Lares) },
    "extension.schema.json": { $schema: draft, ...forOtherTools(Manifest) },
  };
}

/** A pattern that every name matches. */
const anyName = "^.*$";

/**
 * The same schema with maps said as `additionalProperties`: Tombi refuses every key of one that is said as a pattern
 * that matches all names.
 */
function forOtherTools(schema: object): object {
  // As it is written into the file: symbols and undefined are not part of it.
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
    if (!isJsonObject(value) || !isJsonObject(value["patternProperties"])) return value;
    const { patternProperties, ...rest } = value;
    const patterns = Object.keys(patternProperties);
    if (patterns.length !== 1 || patterns[0] !== anyName) return value;
    return { ...rest, additionalProperties: value["patternProperties"][anyName] };
  }) as object;
}
