import type { JsonValue } from "../../base/json.ts";
import { maxFieldLength } from "../../memory-contract/conditions.ts";

/**
 * Returns all texts in a value, with the path of their field, "a.b"; arrays add nothing to the path. The field is null
 * for a text that is the value itself, and for texts beneath a key that is empty or contains a dot. Not recursive, so
 * any depth is possible.
 */
export function eachText(data: JsonValue, visit: (field: string | null, text: string) => void): void {
  const rest: [field: string | null, value: JsonValue][] = [["", data]];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const [field, value] = next;
    if (typeof value === "string") visit(field === "" ? null : field, value);
    else if (Array.isArray(value)) {
      for (let at = value.length - 1; at >= 0; at--) {
        const inner: unknown = value[at];
        if (canHoldText(inner)) rest.push([field, inner]);
      }
    } else if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        if (canHoldText(inner)) rest.push([beneath(field, key), inner]);
      }
    }
  }
}

const canHoldText = (value: unknown): value is JsonValue =>
  typeof value === "string" || (typeof value === "object" && value !== null);

function beneath(field: string | null, key: string): string | null {
  if (field === null || key === "" || key.includes(".")) return null;
  const inner = field === "" ? key : `${field}.${key}`;
  return inner.length > maxFieldLength ? null : inner;
}

/** Returns the field and those it lies in: "a", "a.b" and "a.b.c" for "a.b.c". */
export function* fieldsAround(field: string): Iterable<string> {
  for (let dot = field.indexOf("."); dot !== -1; dot = field.indexOf(".", dot + 1)) yield field.slice(0, dot);
  yield field;
}
