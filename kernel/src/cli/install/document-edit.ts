import { isJsonObject, canonicalJson } from "../../base/json.ts";
import { appendItem, insertEntry, remove, replaceValue } from "../../documents/fixes/edits.ts";
import { written } from "../../documents/fixes/scalars.ts";
import { applyEdits } from "../../documents/text/apply-edits.ts";
import type { TextEdit } from "../../documents/text/diagnostics.ts";
import { parseDocument } from "../../documents/text/parse.ts";
import type { DocumentFormat, ParsedDocument } from "../../documents/text/source.ts";

/** The fields of an extension's entry beside its id. An absent list leaves the written one. */
export interface EntryGrants {
  readonly locations?: readonly string[];
  readonly deny?: readonly string[];
}

/** A document's new text, or a sentence that says why a person has to change it. */
export type DocumentEdit = { readonly text: string } | { readonly fault: string };

/** The text of a new document. */
export const emptyDocument = "# yaml-language-server: $schema=.lares/schemas/lares.schema.json\nversion: 1\n";

/**
 * Returns the text of a `lares.yaml` or `lares.toml` in which the extension with this id is enabled. Comments and everything
 * else stay as they are.
 */
export function withExtension(
  text: string,
  format: DocumentFormat,
  id: string,
  grants: EntryGrants,
): DocumentEdit {
  const document = parseDocument(text, format);
  const entries = entriesOf(document);
  if (entries === null) return unreadable;
  const index = entries.findIndex((entry) => isJsonObject(entry) && entry["id"] === id);
  const next =
    index < 0 ? added(document, { id, ...entryGrants(grants) }) : changed(document, entries, index, grants);
  return checked(document, next, id, (list) => {
    const entry = list.find((each) => isJsonObject(each) && each["id"] === id);
    return isJsonObject(entry) && entry["enabled"] !== false && hasGrants(entry, grants);
  });
}

/** Returns the text without the entries of this id; the same text if it has none. */
export function withoutExtension(text: string, format: DocumentFormat, id: string): DocumentEdit {
  let document = parseDocument(text, format);
  const before = document;
  for (;;) {
    const entries = entriesOf(document);
    if (entries === null) return unreadable;
    const index = entries.findIndex((entry) => isJsonObject(entry) && entry["id"] === id);
    if (index < 0) break;
    const edit = remove(document, `/extensions/${index}`);
    if (edit === null) return { fault: `remove the entry "id: ${id}" under extensions yourself` };
    document = parseDocument(applyEdits(document.text, [edit]), format);
  }
  return checked(before, document.text, id, (list) =>
    list.every((each) => !isJsonObject(each) || each["id"] !== id),
  );
}

const unreadable = { fault: "it has errors, which lares check shows" };

function entriesOf({ value, diagnostics }: ParsedDocument): readonly unknown[] | null {
  if (diagnostics.some(({ severity }) => severity === "error")) return null;
  if (value === null || value === undefined) return [];
  if (!isJsonObject(value)) return null;
  const { extensions = [] } = value;
  return extensions === null ? [] : Array.isArray(extensions) ? extensions : null;
}

const entryGrants = ({ locations, deny }: EntryGrants): object =>
  locations === undefined && deny === undefined
    ? {}
    : {
        grants: {
          ...(locations === undefined ? {} : { locations }),
          ...(deny === undefined ? {} : { deny }),
        },
      };

function hasGrants(entry: Record<string, unknown>, { locations, deny }: EntryGrants): boolean {
  const grants = isJsonObject(entry["grants"]) ? entry["grants"] : {};
  const isSame = (wanted: readonly string[] | undefined, name: string): boolean =>
    wanted === undefined || canonicalJson(wanted) === canonicalJson(grants[name] ?? null);
  return isSame(locations, "locations") && isSame(deny, "deny");
}

function added(document: ParsedDocument, entry: object): string | null {
  const { text, format, value } = document;
  const has = isJsonObject(value) && Object.hasOwn(value, "extensions");
  const list = has ? document.nodeAt("/extensions") : undefined;
  if (list !== undefined && Array.isArray((value as Record<string, unknown>)["extensions"])) {
    const edit = appendItem(document, "/extensions", entry);
    if (edit !== null) return applyEdits(text, [edit]);
  }
  if (has && format === "yaml") {
    // Without a value, as in "extensions:".
    const edit = remove(document, "/extensions");
    return edit === null ? null : added(parseDocument(applyEdits(text, [edit]), format), entry);
  }
  const lead = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  if (format === "toml") {
    const lines = Object.entries(entry).map(([key, item]) => `${key} = ${written(item, format)}\n`);
    return `${lead}${text.trim() === "" ? "" : "\n"}[[extensions]]\n${lines.join("")}`;
  }
  // A document written like JSON has its entries between braces.
  if (document.root !== null && text.charAt(document.root.start) === "{") {
    const edit = insertEntry(document, "", "extensions", [entry]);
    return edit === null ? null : applyEdits(text, [edit]);
  }
  const [[, id] = [], ...rest] = Object.entries(entry);
  const lines = rest.map(([key, item]) => `    ${key}: ${written(item, format)}\n`);
  return `${lead}extensions:\n  - id: ${written(id, format)}\n${lines.join("")}`;
}

/** Sets the grants of an entry that is there, and enables it. */
function changed(
  before: ParsedDocument,
  entries: readonly unknown[],
  index: number,
  grants: EntryGrants,
): string | null {
  const pointer = `/extensions/${index}`;
  const entry = entries[index];
  let document = before;
  const apply = (edit: TextEdit | null): boolean => {
    if (edit === null) return false;
    document = parseDocument(applyEdits(document.text, [edit]), document.format);
    return true;
  };
  if (!isJsonObject(entry)) return null;
  if (entry["enabled"] === false && !apply(replaceValue(document, `${pointer}/enabled`, true))) return null;
  const isAlone = !isJsonObject(entry["grants"]);
  if (isAlone) {
    const wanted = (entryGrants(grants) as { readonly grants?: object }).grants;
    if (wanted !== undefined && !apply(insertEntry(document, pointer, "grants", wanted))) return null;
    return document.text;
  }
  for (const name of ["locations", "deny"] as const) {
    const wanted = grants[name];
    if (wanted === undefined) continue;
    const isThere = document.nodeAt(`${pointer}/grants/${name}`) !== undefined;
    const edit = isThere
      ? replaceValue(document, `${pointer}/grants/${name}`, wanted)
      : insertEntry(document, `${pointer}/grants`, name, wanted);
    if (!apply(edit)) return null;
  }
  return document.text;
}

/** Returns the text if it is valid, contains the change, and differs in nothing else. */
function checked(
  before: ParsedDocument,
  text: string | null,
  id: string,
  isWanted: (entries: readonly unknown[]) => boolean,
): DocumentEdit {
  const fault = { fault: "its form does not allow to change it automatically" };
  if (text === null) return fault;
  const after = parseDocument(text, before.format);
  const entries = entriesOf(after);
  if (entries === null || !isWanted(entries)) return fault;
  const rest = (value: unknown): string => {
    const { extensions, ...others } = isJsonObject(value) ? value : {};
    const list = Array.isArray(extensions) ? extensions : [];
    return canonicalJson([others, list.filter((entry) => !isJsonObject(entry) || entry["id"] !== id)]);
  };
  return rest(before.value) === rest(after.value) ? { text } : fault;
}
