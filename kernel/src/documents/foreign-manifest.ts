import { isJsonObject } from "../base/json.ts";

/**
 * Other products use the same file names for their manifests. Each has a required field at its top level that ours
 * does not have: Zed's, Firebase's, Dynatrace's and NVIDIA Omniverse Kit's.
 */
export const foreignFields = ["schema_version", "specVersion", "minDynatraceVersion", "package"] as const;

/**
 * True if a document with a manifest's name belongs to another product. A document with our table is ours, even if
 * invalid.
 */
export function isForeignManifest(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    !Object.hasOwn(value, "extension") &&
    foreignFields.some((field) => Object.hasOwn(value, field))
  );
}
