import { isJsonObject } from "../base/json.ts";

/**
 * Other products name their manifests as Lares does. Each is told by a field at its top that it has to have, and that
 * is none of ours: Zed's, Firebase's, Dynatrace's and that of NVIDIA's Omniverse Kit.
 */
export const foreignFields = ["schema_version", "specVersion", "minDynatraceVersion", "package"] as const;

/** Whether a document that has a manifest's name is another product's. What has our table is ours, and may be wrong. */
export function isForeignManifest(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    !Object.hasOwn(value, "extension") &&
    foreignFields.some((field) => Object.hasOwn(value, field))
  );
}
