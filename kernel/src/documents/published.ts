import { Lares } from "./schema/lares.ts";
import { Manifest } from "./schema/manifest.ts";

const draft = "http://json-schema.org/draft-07/schema#";

/** The JSON Schemas (draft-07) of the documents people write, by file name, as they are published. */
export function publishedDocumentSchemas(): Record<string, object> {
  return {
    "lares.schema.json": { $schema: draft, ...Lares },
    "extension.schema.json": { $schema: draft, ...Manifest },
  };
}
