import { isJsonObject } from "../../base/json.ts";
import { pointerKeys, pointerTo, valueAt } from "../text/source.ts";
import type { Candidate, Search } from "./candidates.ts";
import { paragraph } from "./explanation.ts";
import { ownValue, propertyName, schemaReference } from "../schema/json-schema.ts";
import type { Schema } from "../schema/schema-at.ts";
import { mark } from "../text/cursor-mark.ts";

/** Values for a tool's parameters that other parts of the same schema determine. */
export function parameterCandidates(schemas: readonly Schema[], search: Search): readonly Candidate[] {
  if (schemas.includes(propertyName)) return propertyNames(search);
  if (schemas.includes(schemaReference)) return references(search);
  return schemas.includes(ownValue) ? ownValues(search) : [];
}

/** For `required` and `dependencies`: properties that the list does not contain yet. */
function propertyNames({ document, pointer }: Search): Candidate[] {
  const list = pointerKeys(pointer).slice(0, -1);
  const schema = list.slice(0, list.at(-1) === "required" ? -1 : -2);
  const given = valueAt(document, pointerTo("", ...list));
  const taken = Array.isArray(given) ? given : [];
  const properties = valueAt(document, pointerTo("", ...schema, "properties"));
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties)
    .filter(([name]) => !taken.includes(name) && !name.includes(mark))
    .map(([value, property]) => ({ value, kind: "field", rank: 0, ...saidOf(property) }));
}

/** The whole schema, for recursive structures, and each definition. */
function references({ document, pointer }: Search): Candidate[] {
  const root = /^\/extension\/tools\/\d+\/parameters/.exec(pointer)?.[0] ?? "";
  const named = ["definitions", "$defs"].flatMap((holder) => {
    const definitions = valueAt(document, pointerTo(root, holder));
    if (!isJsonObject(definitions)) return [];
    return Object.entries(definitions)
      .filter(([name]) => !name.includes(mark))
      .map(([name, definition]): Candidate => ({
        value: `#${encodeURI(pointerTo("", holder, name.toWellFormed()))}`,
        kind: "value",
        rank: 0,
        ...saidOf(definition),
      }));
  });
  return [...named, { value: "#", kind: "value", detail: "all of the parameters", rank: 1 }];
}

/** One of the allowed values, or a boolean. */
function ownValues({ document, pointer }: Search): Candidate[] {
  const schema = pointer.replace(/\/(?:default|examples\/\d+)$/, "");
  // Choices inside a choice are not offered.
  if (schema === pointer) return [];
  const choices: unknown = valueAt(document, `${schema}/enum`);
  const known =
    valueAt(document, `${schema}/type`) === "boolean" ? [true, false] : Array.isArray(choices) ? choices : [];
  return known
    .filter((value) => typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    .map((value) => ({ value, kind: "choice" }));
}

/** Describes a definition in the document's own, untrusted words. */
function saidOf(schema: unknown): Pick<Candidate, "explanation" | "detail"> {
  if (!isJsonObject(schema)) return {};
  const { description, type } = schema;
  return {
    ...(typeof type === "string" ? { detail: type } : {}),
    ...(typeof description === "string" ? { explanation: [paragraph(description)] } : {}),
  };
}
