import type { JsonValue } from "../../base/json.ts";
import { maxFieldLength } from "./where.ts";

/**
 * All texts in a value, with the field they stand in, "a.b"; arrays are passed through. The field is null for what no
 * field names: a text that is the value itself, and what stands beneath a key that is empty or has a dot in it.
 * However deep it is: nothing here calls itself.
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

/** "a.b.c" as "a", "a.b" and "a.b.c". */
export function* fieldsAround(field: string): Iterable<string> {
  for (let dot = field.indexOf("."); dot !== -1; dot = field.indexOf(".", dot + 1)) yield field.slice(0, dot);
  yield field;
}
