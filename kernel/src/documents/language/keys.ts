import type { Explanation } from "../../base/vocabulary/editing.ts";
import { pointerKeys, type DocumentFormat } from "../text/source.ts";
import type { CursorContext } from "./cursor.ts";
import { paragraph } from "./explanation.ts";
import { choiceOf, type Proposal } from "./proposal.ts";
import { alternatives, schemasAt, typeInWords, valuesOf, type Schema } from "../schema/schema-at.ts";

/** Groups of mutually exclusive keys. A key of one group is not offered beside a key of the other. */
const exclusive: readonly { readonly one: readonly string[]; readonly other: readonly string[] }[] = [
  {
    one: ["on", "filter", "intercept", "order"],
    other: [
      "schedule",
      "timezone",
      "catch_up",
      "prompt",
      "target",
      "active_hours",
      "overlap",
      "jitter",
      "on_device_with_capability",
    ],
  },
  { one: ["handler"], other: ["prompt", "target"] },
  { one: ["path"], other: ["id"] },
];

/** The editor's capabilities. */
export interface ClientAbilities {
  readonly snippets: boolean;
}

/** Returns the keys that the schemas allow at the cursor and the map does not have yet, required keys first. */
export function keyProposals(
  context: CursorContext,
  schemas: readonly Schema[],
  abilities: ClientAbilities,
): Proposal[] {
  const { siblings, format, statement } = context;
  const isListHeader = statement === "list-header";
  const inHeader = statement === "header" || isListHeader;
  const proposals = new Map<string, Proposal>();
  for (const schema of schemas) {
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      if (name === "$schema" || property.deprecated === true || proposals.has(name)) continue;
      if (inHeader ? !isTable(property, isListHeader) : isTaken(name, siblings)) continue;
      if (isTableLine(context, property)) continue;
      proposals.set(name, {
        ...offer(context, name, property),
        rank: schema.required?.includes(name) === true ? 0 : 1,
        ...(inHeader
          ? { newText: quotedKey(name, format), isSnippet: false }
          : written(context, name, property, abilities)),
      });
    }
  }
  return [...proposals.values()];
}

function offer(
  context: CursorContext,
  name: string,
  property: Schema,
): Omit<Proposal, "rank" | "newText" | "isSnippet"> {
  const { spot } = context;
  const explanation = explanationOf(property);
  return {
    label: name,
    kind: "key",
    detail: typeInWords(property),
    ...(explanation === null ? {} : { explanation }),
    start: spot.start,
    end: spot.end,
    filterText: name,
  };
}

function explanationOf({ description }: Schema): Explanation | null {
  return description === undefined ? null : [paragraph(description)];
}

function isTaken(name: string, siblings: readonly string[]): boolean {
  if (siblings.includes(name)) return true;
  return exclusive.some(
    ({ one, other }) =>
      (one.includes(name) && other.some((key) => siblings.includes(key))) ||
      (other.includes(name) && one.some((key) => siblings.includes(key))),
  );
}

function kindOf(schema: Schema): "map" | "maps" | "list" | "text" | "other" {
  const [first] = alternatives(schema, undefined);
  if (first?.type === "object") return "map";
  if (first?.type === "array") {
    const [item] = first.items === undefined ? [] : alternatives(first.items, undefined);
    return item?.type === "object" ? "maps" : "list";
  }
  return first?.type === "string" || typeof first?.const === "string" ? "text" : "other";
}

function isTable(schema: Schema, isList: boolean): boolean {
  const kinds = alternatives(schema, undefined);
  // The map may contain the intended list of maps.
  if (kinds.some(({ type }) => type === "object")) return true;
  return isList ? kindOf(schema) === "maps" : false;
}

/** True for maps that TOML writes as headers on their own lines; see `tableProposals`. */
function isTableLine({ format, statement, spot }: CursorContext, property: Schema): boolean {
  if (format !== "toml" || statement !== "pair" || !spot.isAlone || spot.hasSeparator) return false;
  return ["map", "maps"].includes(kindOf(property));
}

type Text = Pick<Proposal, "newText" | "isSnippet">;

/** Returns the key with the text that follows it. */
function written(
  context: CursorContext,
  name: string,
  property: Schema,
  { snippets }: ClientAbilities,
): Text {
  const { format, spot, needsDash } = context;
  const lead = `${spot.needsSpace ? " " : ""}${needsDash ? "- " : ""}`;
  const key = spot.quote === "" ? quotedKey(name, format) : name;
  if (spot.hasSeparator || spot.quote !== "") return { newText: lead + key, isSnippet: false };
  const separator = format === "toml" ? " = " : ": ";
  const value = snippets ? valueSnippet(context, property) : null;
  if (value !== null)
    return { newText: `${lead}${key.replaceAll("$", "\\$")}${separator.trimEnd()}${value}`, isSnippet: true };
  const isNested = format === "yaml" && spot.isAlone && ["map", "maps"].includes(kindOf(property));
  return { newText: `${lead}${key}${isNested ? ":" : separator}`, isSnippet: false };
}

/** Returns the snippet after the separator, or null if the user has to type the value. */
function valueSnippet(context: CursorContext, property: Schema): string | null {
  const { format, spot, needsDash } = context;
  const kind = kindOf(property);
  const isBlock = format === "yaml" && spot.isAlone;
  const column = spot.start - spot.lineStart + (needsDash ? 2 : 0) + (spot.needsSpace ? 1 : 0);
  const deeper = `\n${" ".repeat(column + 2)}`;
  if (kind === "map") return isBlock ? `${deeper}$0` : " { $0 }";
  if (kind === "maps") return isBlock ? `${deeper}- $0` : " [{ $0 }]";
  if (kind === "list") return " [$0]";
  const kinds = alternatives(property, undefined);
  const values = valuesOf(kinds);
  const isChoice = kinds.every((each) => each.const !== undefined || each.type === "boolean");
  if (values.length > 1 && isChoice) {
    const choice = choiceOf(values.map(String));
    const isText = values.every((value) => typeof value === "string");
    return format === "toml" && isText ? ` "${choice}"` : ` ${choice}`;
  }
  return kind === "text" && format === "toml" ? ' "$1"' : null;
}

/** Returns maps that may be written inline, with their required fields. */
export function mapProposals(
  { format, spot, needsDash }: CursorContext,
  schemas: readonly Schema[],
): Proposal[] {
  if (spot.quote !== "" || schemas.length > maxMapForms) return [];
  const separator = format === "toml" ? " = " : ": ";
  const lead = `${spot.needsSpace ? " " : ""}${needsDash ? "- " : ""}`;
  return schemas.flatMap((schema) => {
    const { properties, required } = schema;
    const [first] = Object.keys(properties ?? {});
    if (schema.type !== "object" || properties === undefined || first === undefined) return [];
    const names = required === undefined || required.length === 0 ? [first] : required;
    let places = 0;
    const pairs = names.map((name) => {
      const property = properties[name] ?? {};
      const kind = kindOf(property);
      const place = typeof property.const === "string" ? property.const : `$${++places}`;
      const value =
        kind === "map" ? `{ ${place} }` : kind === "text" && format === "toml" ? `"${place}"` : place;
      return `${quotedKey(name, format)}${separator}${value}`;
    });
    const shown = names.map((name) => {
      const fixed = properties[name]?.const;
      return typeof fixed === "string" ? `${name}${separator}${fixed}` : name;
    });
    return [
      {
        label: `{ ${shown.join(", ")} }`,
        kind: "value",
        detail: "map",
        start: spot.start,
        end: spot.end,
        newText: `${lead}{ ${pairs.join(", ")} }`,
        isSnippet: true,
        filterText: `{ ${shown.join(", ")} }`,
        rank: 3,
      },
    ];
  });
}

/** A value with more possible kinds of map gets no snippet. */
const maxMapForms = 10;

/**
 * Returns headers of tables that may begin at an empty line of TOML: those of the cursor's table and of its
 * ancestors.
 */
export function tableProposals(context: CursorContext, root: Schema): Proposal[] {
  const { format, statement, spot, pointer, document } = context;
  if (format !== "toml" || statement !== "pair" || !spot.isAlone || spot.hasSeparator) return [];
  const proposals = new Map<string, Proposal>();
  const keys = pointerKeys(pointer);
  for (let length = keys.length; length >= 0; length--) {
    const ancestor = keys.slice(0, length);
    if (/^\d+$/.test(ancestor.at(-1) ?? "") && length < keys.length) continue;
    const pointerOf = ancestor.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
    const names = ancestor.filter((key) => !/^\d+$/.test(key));
    const holder = ancestor.reduce<unknown>(
      (value, key) => (value as Record<string, unknown> | undefined)?.[key],
      document,
    );
    for (const schema of schemasAt(root, document, pointerOf)) {
      for (const [name, property] of Object.entries(schema.properties ?? {})) {
        const isList = kindOf(property) === "maps";
        if (!isTable(property, true) || (!isList && isThere(holder, name))) continue;
        const path = [...names, name].map((key) => quotedKey(key, "toml")).join(".");
        const label = isList ? `[[${path}]]` : `[${path}]`;
        if (proposals.has(label)) continue;
        proposals.set(label, {
          ...offer(context, name, property),
          label,
          kind: "table",
          filterText: spot.before.startsWith("[") ? label : name,
          newText: label,
          isSnippet: false,
          rank: length === keys.length ? 1 : 2,
        });
      }
    }
  }
  return [...proposals.values()];
}

function isThere(holder: unknown, name: string): boolean {
  return typeof holder === "object" && holder !== null && Object.hasOwn(holder, name);
}

function quotedKey(name: string, format: DocumentFormat): string {
  return format === "yaml" || /^[A-Za-z0-9_-]+$/.test(name) ? name : `"${name}"`;
}
