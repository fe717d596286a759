import { isJsonObject } from "../base/json.ts";
import type { Field } from "./event-type.ts";

/** Maximum number of declared fields that are checked; an event with more is not checked. */
const maxFields = 256;

/**
 * Returns the fields that a custom event's JSON Schema names, as filters see them. Null if it names none, or draws its
 * fields from elsewhere: then every field may exist. Numbers are `dyn`, because JSON does not tell integers from others.
 */
export function declaredFields(schema: Readonly<Record<string, unknown>>): Record<string, Field> | null {
  const { properties } = schema;
  if (!isJsonObject(properties) || elsewhere.some((keyword) => Object.hasOwn(schema, keyword))) return null;
  const named = Object.entries(properties);
  if (named.length === 0 || named.length > maxFields) return null;
  return Object.fromEntries(named.map(([name, field]) => [name, fieldOf(field)]));
}

/** Keywords by which an object has fields that `properties` does not name. */
const elsewhere = ["$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties", "dependencies"];

function fieldOf(schema: unknown): Field {
  const { type, description, items, enum: values } = isJsonObject(schema) ? schema : {};
  const isListOfTexts = type === "array" && isJsonObject(items) && items["type"] === "string";
  const texts = Array.isArray(values) ? values.filter((value) => typeof value === "string") : [];
  return {
    type: type === "string" ? "string" : type === "boolean" ? "bool" : isListOfTexts ? "list<string>" : "dyn",
    description: typeof description === "string" ? description : "",
    ...(texts.length === 0 ? {} : { values: texts }),
  };
}
