import { isJsonObject } from "../base/json.ts";
import { Hash } from "../base/vocabulary/common.ts";

/** Values for fields whose names say more than their types. */
const byName: Readonly<Record<string, unknown>> = {
  path: "notes/example.md",
  name: "example.md",
  extension: "md",
  location: "notes",
  id: "0197a000-0000-7000-8000-000000000001",
  base64: "IyBFeGFtcGxlCg==",
  created: "2026-11-20T12:00:00.000Z",
  modified: "2026-11-20T12:00:00.000Z",
  timestamp: "2026-11-20T12:00:00.000Z",
};
const hashPattern = (Hash as { readonly pattern?: string }).pattern;
const anyText = "example";
const maxDepth = 8;
/** A schema may be a stranger's, and ask for a value that no memory holds. */
const maxValues = 2_000;
const maxCharacters = 256 * 1024;

/** The room that is left in one example. */
interface Left {
  values: number;
  characters: number;
}

/**
 * Returns a small value that fits a JSON Schema as far as its common keywords tell: required fields only, empty lists,
 * the first branch of a union. A value that would be very large is cut, and does not fit. Whoever needs certainty has to
 * validate it.
 */
export const jsonExample = (schema: unknown): unknown =>
  exampleOf(schema, "", 0, { values: maxValues, characters: maxCharacters });

function exampleOf(schema: unknown, name: string, depth: number, left: Left): unknown {
  if (!isJsonObject(schema) || depth > maxDepth) return null;
  const within = (part: unknown, of = name): unknown => exampleOf(part, of, depth + 1, left);
  if ("const" in schema) return given(left, schema["const"]);
  if ("default" in schema) return given(left, schema["default"]);
  const [first] = listOf(schema["examples"] ?? schema["enum"]);
  if (first !== undefined) return given(left, first);
  const [branch] = listOf(schema["anyOf"] ?? schema["oneOf"]);
  if (branch !== undefined) return within(branch);
  const all = listOf(schema["allOf"]);
  const parts = all.slice(0, taken(left, all.length)).map((part) => within(part));
  if (parts.length > 0) return parts.every(isJsonObject) ? Object.assign({}, ...parts) : parts[0];
  const { type } = schema;
  switch (Array.isArray(type) ? type[0] : (type ?? (isJsonObject(schema["properties"]) ? "object" : ""))) {
    case "object": {
      const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
      const required = listOf(schema["required"]).filter((key): key is string => typeof key === "string");
      return Object.fromEntries(
        required
          .slice(0, taken(left, required.length))
          .map((key) => [key, within(Object.hasOwn(properties, key) ? properties[key] : undefined, key)]),
      );
    }
    case "array":
      return Array.from({ length: taken(left, numberOf(schema["minItems"]) ?? 0) }, () =>
        within(schema["items"]),
      );
    case "string":
      return textFor(schema, name, left);
    case "integer":
    case "number":
      return numberFor(schema);
    case "boolean":
      return true;
    default:
      return null;
  }
}

/** Takes as many values as are wanted, or are left. */
function taken(left: Left, wanted: number): number {
  const count = Math.max(0, Math.min(wanted, left.values));
  left.values -= count;
  return count;
}

/** Returns a value of the schema's own; null if it is too long. */
function given(left: Left, value: unknown): unknown {
  const characters = JSON.stringify(value)?.length ?? 0;
  if (characters > left.characters) return null;
  left.characters -= characters;
  return value;
}

function textFor(schema: Record<string, unknown>, name: string, left: Left): string {
  if (schema["pattern"] === hashPattern) return `sha256:${"0".repeat(64)}`;
  const known = Object.hasOwn(byName, name) ? byName[name] : undefined;
  const text = typeof known === "string" ? known : anyText;
  const longest = numberOf(schema["maxLength"]) ?? Number.POSITIVE_INFINITY;
  const shortest = Math.min(numberOf(schema["minLength"]) ?? 0, left.characters);
  const example = text.slice(0, longest).padEnd(shortest, "x");
  left.characters = Math.max(0, left.characters - example.length);
  return example;
}

function numberFor(schema: Record<string, unknown>): number {
  const above = numberOf(schema["exclusiveMinimum"]);
  const least = numberOf(schema["minimum"]) ?? (above === undefined ? undefined : above + 1);
  const most = numberOf(schema["maximum"]);
  return least ?? (most !== undefined && most < 1 ? most : 1);
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
