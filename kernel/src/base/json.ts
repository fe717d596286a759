import canonicalize from "canonicalize";

type JsonPrimitive = string | number | boolean | null;
export type JsonValue = JsonPrimitive | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** Returns RFC 8785 canonical JSON: the bytes from which every digest and hash chain is computed. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError("This value has no JSON form.");
  return text;
}

/** True for an object with string keys: neither null nor an array. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Returns the value with U+FFFD for each half of a surrogate pair in its texts and keys, which canonical JSON cannot hold.
 * Returns the value itself if there is nothing to replace.
 */
export function wellFormed<Value>(value: Value): Value {
  return repaired(value) as Value;
}

function repaired(value: unknown): unknown {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(repaired);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  const fields = Object.entries(value).map(
    ([key, field]) => [key, key.toWellFormed(), field, repaired(field)] as const,
  );
  if (fields.every(([key, name, field, now]) => key === name && field === now)) return value;
  // Not by assignment, which treats `__proto__` as no key.
  return Object.fromEntries(fields.map(([, name, , now]) => [name, now]));
}
