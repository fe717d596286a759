import { isJsonObject } from "../../base/json.ts";
import { pointerKeys } from "../text/source.ts";
import { mark } from "../text/cursor-mark.ts";

/** The subset of JSON Schema that the documents' schemas use. */
export interface Schema {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly deprecated?: boolean;
  readonly examples?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[] | undefined;
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
}

/**
 * Returns the possible schemas of the value at `pointer`; several if the document does not decide between
 * alternatives. Empty if nothing, or anything, is allowed.
 */
export function schemasAt(root: Schema, document: unknown, pointer: string): readonly Schema[] {
  let schemas = alternatives(root, document);
  let value = document;
  for (const key of pointerKeys(pointer)) {
    const child = childOf(value, key);
    schemas = schemas.flatMap((schema) => {
      const next = childSchema(schema, key);
      return next === undefined ? [] : alternatives(next, child);
    });
    value = child;
  }
  return schemas;
}

/** Returns the schema as written for a place, with the description of all its alternatives. */
export function declaredAt(root: Schema, document: unknown, pointer: string): Schema | undefined {
  const keys = pointerKeys(pointer);
  const last = keys.at(-1);
  if (last === undefined) return root;
  const parent = pointer.slice(0, pointer.lastIndexOf("/"));
  for (const schema of schemasAt(root, document, parent)) {
    const declared = childSchema(schema, last);
    if (declared !== undefined) return declared;
  }
  return undefined;
}

/** Returns the schema with the schema at `keys` replaced, and with the description of that place. */
export function replacedAt(root: Schema, [key, ...rest]: readonly string[], schema: Schema): Schema {
  if (key === undefined)
    return root.description === undefined ? schema : { ...schema, description: root.description };
  const child = childSchema(root, key);
  if (child === undefined) return root;
  const replaced = replacedAt(child, rest, schema);
  if (root.type === "array") return { ...root, items: replaced };
  return { ...root, properties: { ...root.properties, [key]: replaced } };
}

/**
 * Returns a union's alternatives, or the schema itself, without alternatives that `value` excludes by its `kind`
 * or similar field.
 */
export function alternatives(schema: Schema, value: unknown): readonly Schema[] {
  if (schema.anyOf === undefined) return [schema];
  const { description } = schema;
  const open = schema.anyOf.filter((branch) => !contradicts(branch, value));
  // A value that matches no alternative may be incomplete.
  return (open.length === 0 ? schema.anyOf : open).flatMap((branch) =>
    alternatives(description === undefined ? branch : { description, ...branch }, value),
  );
}

function contradicts(schema: Schema, value: unknown): boolean {
  // A map that contains only the cursor may still become another kind.
  if (!isJsonObject(value) || Object.keys(value).every((key) => key.includes(mark))) return false;
  if (schema.type !== "object") return true;
  return Object.entries(schema.properties ?? {}).some(
    ([name, property]) =>
      property.const !== undefined &&
      Object.hasOwn(value, name) &&
      typeof value[name] === "string" &&
      value[name] !== property.const,
  );
}

function childSchema(schema: Schema, key: string): Schema | undefined {
  if (schema.type === "array") return schema.items;
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  return Object.values(schema.patternProperties ?? {})[0];
}

function childOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}

/**
 * Returns all allowed values of a constant, a union of constants or a boolean; null if other values are allowed
 * too.
 */
export function valuesOf(schemas: readonly Schema[]): readonly unknown[] {
  return schemas.flatMap((schema) => {
    if (schema.const !== undefined) return [schema.const];
    return schema.type === "boolean" ? [true, false] : [];
  });
}

/** Describes a type: "text", "whole number from 1 to 4096", "list", "map"; a union's kinds joined by "or". */
export function typeInWords(schema: Schema): string {
  const kinds = alternatives(schema, undefined).map(kindInWords);
  return [...new Set(kinds.filter((kind) => kind !== ""))].join(" or ");
}

function kindInWords(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const range =
    schema.minimum === undefined
      ? ""
      : schema.maximum === undefined
        ? `, at least ${schema.minimum}`
        : ` from ${schema.minimum} to ${schema.maximum}`;
  return schema.type === undefined ? "" : `${words[schema.type] ?? ""}${range}`;
}

const words: Readonly<Record<string, string>> = {
  string: "text",
  integer: "whole number",
  number: "number",
  boolean: "true or false",
  array: "list",
  object: "map",
};
