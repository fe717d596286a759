import type { Field } from "./event-type.ts";
import { entryFields, eventTypes } from "./types.ts";

/** Values of fields whose names say more than their types. */
const byName: Readonly<Record<string, unknown>> = {
  path: "notes/example.md",
  from: "notes/earlier.md",
  name: "example.md",
  extension: "md",
  mime: "text/markdown",
  kind: "file",
  media: "text",
  location: ".",
  changed_fields: ["size", "modified"],
  created: "2026-11-20T12:00:00.000Z",
  modified: "2026-11-20T12:00:00.000Z",
  scheduled_for: "2026-11-20T12:00:00.000Z",
};

/**
 * Returns an event of this name as a hook gets it, without `id` and `timestamp`, with made-up values of the right types.
 * A custom event has only its name, because its fields are not known here.
 */
export function exampleEvent(name: string): Record<string, unknown> {
  const type = eventTypes.find((each) => each.name === name);
  return { name, ...examplesOf(type?.fields ?? {}) };
}

function examplesOf(fields: Readonly<Record<string, Field>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, exampleOf(name, field)]));
}

function exampleOf(name: string, { type, values }: Field): unknown {
  if (Object.hasOwn(byName, name)) return byName[name];
  switch (type) {
    case "string":
      return values?.[0] ?? (name.endsWith("id") ? "0197a000-0000-7000-8000-000000000001" : "example");
    case "int":
      return 12;
    case "bool":
      return false;
    case "dyn":
      return null;
    case "list<string>":
      return [];
    case "map<string, dyn>":
    case "map<string, map<string, dyn>>":
      return {};
    case "Entry":
      return examplesOf(entryFields);
  }
}
