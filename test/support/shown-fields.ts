/** Finds the fields of a published schema that none of its recorded examples has. */
import type { Examples } from "../../kernel/build/reference/examples.ts";
import type { Schema } from "../../kernel/build/reference/fields.ts";
import { isJsonObject } from "../../kernel/src/base/json.ts";

/**
 * Returns the fields without an example, as `Action .receipt.applied`: the type or message that has a section of its own,
 * and the place in it; and the number of all fields. A field of several alternatives counts once. `on_behalf`, which every
 * host call may have, is one field.
 */
export function fieldsWithoutExample(
  definitions: Readonly<Record<string, Schema>>,
  { requests, notifications }: Examples,
): { readonly missing: readonly string[]; readonly total: number } {
  const shown = new Map<string, boolean>();
  /** Notes the fields of a schema, with all values that the examples have at its place. */
  const look = (
    schema: Schema,
    values: readonly unknown[],
    owner: string,
    path: string,
    depth: number,
  ): void => {
    if (depth > 12) return;
    const name = schema.$ref?.slice("#/definitions/".length).replaceAll("~1", "/");
    if (name !== undefined) {
      const target = definitions[name];
      if (target !== undefined) look(target, values, name, "", depth + 1);
      return;
    }
    for (const part of [...(schema.anyOf ?? []), ...(schema.allOf ?? [])])
      look(part, values, owner, path, depth + 1);
    for (const [field, inner] of Object.entries(schema.properties ?? {})) {
      const key = field === "on_behalf" ? "every call .on_behalf" : `${owner} ${path}.${field}`;
      const given = values.filter(isJsonObject).flatMap((value) => (field in value ? [value[field]] : []));
      const isNew = !shown.has(key);
      shown.set(key, shown.get(key) === true || given.length > 0);
      // A type may refer to itself: below what is not shown, each field is noted once.
      if (given.length > 0 || isNew) look(inner, given, owner, `${path}.${field}`, depth + 1);
    }
    if (schema.items !== undefined)
      look(schema.items, values.filter(Array.isArray).flat(), owner, `${path}[]`, depth + 1);
    if (schema.properties === undefined && typeof schema.additionalProperties === "object")
      look(
        schema.additionalProperties,
        values.filter(isJsonObject).flatMap((value) => Object.values(value)),
        owner,
        `${path}.*`,
        depth + 1,
      );
  };
  for (const [key, schema] of Object.entries(definitions)) {
    const [, method = "", side] = /^(?:kernel:)?(.*):(params|result)$/.exec(key) ?? [];
    if (side !== "params" && side !== "result") continue;
    const values = (requests[method] ?? []).flatMap((exchange) => (side in exchange ? [exchange[side]] : []));
    const told = side === "params" ? (notifications[method] ?? []) : [];
    look(schema, [...values, ...told], key, "", 0);
  }
  return { missing: [...shown].filter(([, isShown]) => !isShown).map(([key]) => key), total: shown.size };
}
