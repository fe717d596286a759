import { isJsonObject } from "../../base/json.ts";
import { plainLine } from "../../base/plain-text.ts";
import type { Range } from "../text/diagnostics.ts";
import { pointerKeys, valueAt, type ParsedDocument } from "../text/source.ts";
import { entriesOf, type Extent } from "../fixes/extents.ts";
import { lineStart } from "../text/text-lines.ts";

type SymbolKind = "extension" | "hook" | "tool" | "permission" | "rule" | "list" | "map" | "value";

/** A part of a document in an outline. Name and detail are plain text on one line. */
export interface DocumentPart {
  readonly name: string;
  readonly detail: string;
  readonly kind: SymbolKind;
  readonly range: Range;
  /** The range that is selected when the part is chosen; within `range`. */
  readonly selection: Range;
  readonly children: readonly DocumentPart[];
}

/** Maximum number of parts in one outline. */
export const maxParts = 2000;
/** Maximum nesting in an outline; deeper parts are the user's own data. */
const maxDepth = 4;
const maxNameCharacters = 120;

/** Returns the outline of either document in text order; empty if the document cannot be read. */
export function outlineOf(document: ParsedDocument): DocumentPart[] {
  const budget = { parts: maxParts };
  return partsOf(document, "", 0, budget);
}

function partsOf(
  document: ParsedDocument,
  pointer: string,
  depth: number,
  budget: { parts: number },
): DocumentPart[] {
  const found: DocumentPart[] = [];
  if (depth >= maxDepth || document.value === null) return found;
  for (const entry of entriesOf(document, pointer)) {
    const value = valueAt(document.value, entry.pointer);
    const described = describe(entry.pointer, value);
    if (described === null) continue;
    if (--budget.parts < 0) return found;
    const place = entry.node.key ?? entry.node;
    const children = described.isLeaf ? [] : partsOf(document, entry.pointer, depth + 1, budget);
    const extent = withHeader(document, entry.extent);
    found.push({
      name: shown(described.name) || "…",
      detail: shown(described.detail),
      kind: described.kind,
      range: document.lines.range(extent.start, extent.end),
      selection: document.lines.range(place.start, Math.min(place.end, extent.end)),
      children,
    });
  }
  return found;
}

/** A TOML table begins at the start of its header's line. */
function withHeader(document: ParsedDocument, { start, end }: Extent): Extent {
  if (document.format === "yaml") return { start, end };
  const line = lineStart(document.text, start);
  const before = document.text.slice(line, start);
  return /^[ \t]*\[[^\]=]*$/.test(before) ? { start: line, end } : { start, end };
}

interface Description {
  readonly name: string;
  readonly detail: string;
  readonly kind: SymbolKind;
  readonly isLeaf: boolean;
}

function describe(pointer: string, value: unknown): Description | null {
  const keys = pointerKeys(pointer);
  const key = keys.at(-1) ?? "";
  if (key === "$schema" && keys.length === 1) return null;
  const item = isJsonObject(value) ? describeItem(keys, value) : null;
  if (item !== null) return item;
  if (keys.length === 3 && keys[1] === "permissions")
    return { name: key, detail: scalarText(value), kind: "permission", isLeaf: true };
  if (Array.isArray(value)) {
    const isOfScalars = !value.some((each) => isJsonObject(each) || Array.isArray(each));
    return {
      name: key,
      detail: isOfScalars ? value.map(scalarText).join(", ") : "",
      kind: "list",
      isLeaf: isOfScalars,
    };
  }
  if (isJsonObject(value)) return { name: key, detail: "", kind: "map", isLeaf: false };
  return { name: key, detail: scalarText(value), kind: "value", isLeaf: true };
}

/** Returns the detail of parts that have a name or a short summary. */
function describeItem(keys: readonly string[], value: Record<string, unknown>): Description | null {
  const text = (field: string): string => scalarText(value[field]);
  const path = keys.map((key) => (/^\d+$/.test(key) ? "*" : key)).join("/");
  switch (path) {
    case "extension": {
      const detail = [text("id"), text("version")].filter((part) => part !== "").join(" ");
      return { name: text("name") || text("id") || "extension", detail, kind: "extension", isLeaf: false };
    }
    case "extension/hooks/*": {
      const what = text("on") === "" ? text("schedule") : `on ${text("on")}`;
      const detail = [text("filter"), text("timezone")].filter((part) => part !== "").join(" ");
      const name = [what.trim(), text("handler")].filter((part) => part !== "").join(" → ");
      return { name: name || "hook", detail, kind: "hook", isLeaf: true };
    }
    case "extension/tools/*":
      return { name: text("name"), detail: text("description"), kind: "tool", isLeaf: true };
    case "extensions/*": {
      const isOff = value["enabled"] === false;
      return {
        name: text("id") || text("path"),
        detail: isOff ? "disabled" : "",
        kind: "extension",
        isLeaf: false,
      };
    }
    case "approvals/rules/*": {
      const detail = [text("path"), text("agent")].filter((part) => part !== "").join(" ");
      return {
        name: `${text("decide")} ${text("kind") || "everything"}`,
        detail,
        kind: "rule",
        isLeaf: true,
      };
    }
    default:
      // Models, shared memories and similar maps.
      return typeof value["name"] === "string" && keys.length > 1
        ? { name: text("name"), detail: text("version"), kind: "map", isLeaf: true }
        : null;
  }
}

function scalarText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value).slice(0, maxNameCharacters * 2)
    : "";
}

function shown(text: string): string {
  const line = plainLine(text.slice(0, maxNameCharacters * 2)).trim();
  return line.length > maxNameCharacters ? `${line.slice(0, maxNameCharacters - 1)}…` : line;
}
