import { PackageIndex } from "./package-index.ts";
import { PackageRecord } from "./package-record.ts";

const draft = "http://json-schema.org/draft-07/schema#";

/** The published JSON Schemas (draft-07) of packages, by file name. */
export const publishedPackageSchemas = (): Record<string, object> => ({
  "package.schema.json": { $schema: draft, ...PackageRecord },
  "index.schema.json": { $schema: draft, ...PackageIndex },
});
