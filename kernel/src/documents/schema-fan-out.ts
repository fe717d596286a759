import { isJsonObject } from "../base/json.ts";

/** Subschemas that one value may be held against, every `$ref` followed as often as it is written. */
export const maxSubschemas = 10_000;
/** Levels and `$ref`s one in the other; more counts as too much. */
const maxNesting = 500;

/**
 * How many subschemas a tool's parameters come to when each `$ref` is replaced by what it names; at most one more than
 * `maxSubschemas`. A few definitions that name each other twice come to more than a kernel can ever compare. What
 * names itself is counted once: how often that is followed is up to the arguments.
 */
export function countSubschemas(schema: Record<string, unknown>): number {
  const known = new Map<object, number>();
  const count = (value: unknown, nesting: number): number => {
    if (typeof value !== "object" || value === null) return 0;
    if (nesting > maxNesting) return maxSubschemas + 1;
    const counted = known.get(value);
    if (counted !== undefined) return counted;
    // While it is being counted: then it names itself.
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

/** Members that hold definitions, or values that are no schemas. */
const namesOnly: ReadonlySet<string> = new Set([
  "definitions",
  "$defs",
  "enum",
  "const",
  "default",
  "examples",
]);

/** What a `$ref` within the same schema names; undefined where there is nothing, or it leads elsewhere. */
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
