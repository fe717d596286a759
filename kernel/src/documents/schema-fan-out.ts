import { isJsonObject } from "../base/json.ts";

/** Maximum number of subschemas that one value may be validated against, counting each occurrence of a `$ref`. */
export const maxSubschemas = 10_000;
/** Maximum nesting of levels and `$ref`s; a deeper schema counts as too large. */
const maxNesting = 500;

/**
 * Counts a tool's subschemas with each `$ref` replaced by its target, up to `maxSubschemas` + 1. A few definitions
 * that refer to each other twice expand to more than a kernel can compare. A recursive definition is counted once,
 * because the arguments decide its depth.
 */
export function countSubschemas(schema: Record<string, unknown>): number {
  const known = new Map<object, number>();
  const count = (value: unknown, nesting: number): number => {
    if (typeof value !== "object" || value === null) return 0;
    if (nesting > maxNesting) return maxSubschemas + 1;
    const counted = known.get(value);
    if (counted !== undefined) return counted;
    // If it is already being counted, it is recursive.
    known.set(value, 0);
    let total = isJsonObject(value) ? 1 : 0;
    const add = (more: number): void => void (total = Math.min(total + more, maxSubschemas + 1));
    for (const [key, child] of Object.entries(value)) {
      if (key === "$ref") add(count(referenceTarget(schema, child), nesting + 1));
      else if (!namesOnly.has(key)) add(count(child, nesting + 1));
    }
    known.set(value, total);
    return total;
  };
  return count(schema, 0);
}

/** Keywords that contain definitions or values, not subschemas. */
const namesOnly: ReadonlySet<string> = new Set([
  "definitions",
  "$defs",
  "enum",
  "const",
  "default",
  "examples",
]);

/** Returns the target of a `$ref` within the same schema; undefined if it does not exist or is in another document. */
export function referenceTarget(schema: Record<string, unknown>, reference: unknown): unknown {
  if (typeof reference !== "string" || !/^#(?:\/|$)/.test(reference)) return undefined;
  let found: unknown = schema;
  for (const part of reference.split("/").slice(1)) {
    if (typeof found !== "object" || found === null) return undefined;
    const key = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    found = Object.hasOwn(found, key) ? (found as Record<string, unknown>)[key] : undefined;
  }
  return found;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
