import { extensionIdPattern } from "../../base/vocabulary/extension.ts";
import type { Fix, TextEdit } from "../text/diagnostics.ts";
import { durationPattern, parseDuration } from "../schema/durations.ts";
import { pointerKeys, valueAt, type ParsedDocument } from "../text/source.ts";
import { insertEntry, remove, renameKey, replaceString, replaceText, replaceValue } from "./edits.ts";

/** The parts of a field's schema that are useful for repairing a document. */
export interface PropertySchema {
  readonly type?: string;
  readonly description?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly PropertySchema[];
  readonly pattern?: string;
  readonly minimum?: number;
}

/** Maximum length of a title, which is one line of a menu. */
const maxTitleCharacters = 80;

/** Returns the fix with these edits, or null if one of them is not possible. */
export function fix(title: string, edits: readonly (TextEdit | null)[], isPreferred = false): Fix | null {
  const made = edits.filter((edit) => edit !== null);
  if (made.length !== edits.length) return null;
  const short = title.length > maxTitleCharacters ? `${title.slice(0, maxTitleCharacters - 1)}…` : title;
  return { title: short, edits: made, ...(isPreferred ? { isPreferred } : {}) };
}

/** Replaces the value; a string keeps its quotes. */
export function write(document: ParsedDocument, pointer: string, value: unknown): Fix | null {
  const edit =
    typeof value === "string"
      ? replaceString(document, pointer, value)
      : replaceValue(document, pointer, value);
  return fix(`Write ${JSON.stringify(value)}`, [edit], true);
}

export function rename(document: ParsedDocument, pointer: string, key: string): Fix | null {
  return fix(`Write "${key}"`, [renameKey(document, pointer, key)], true);
}

/** Removes the value at the pointer. `what` names it if its key does not. */
export function withoutEntry(
  document: ParsedDocument,
  pointer: string,
  what = pointerKeys(pointer).at(-1) ?? "",
): Fix | null {
  return fix(`Remove ${what}`, [remove(document, pointer)]);
}

/** Adds a required field with a valid placeholder value. */
export function insertMissing(
  document: ParsedDocument,
  pointer: string,
  key: string,
  schema: PropertySchema | undefined,
): Fix | null {
  return fix(`Add "${key}"`, [insertEntry(document, pointer, key, exampleOf(key, schema ?? {}))]);
}

const examples: Readonly<Record<string, string>> = {
  id: "com.example.my-extension",
  name: "my_name",
  version: "0.1.0",
  description: "What it does",
  handler: "myHandler",
  url: "https://example.invalid",
};

function exampleOf(key: string, schema: PropertySchema): unknown {
  const [branch] = schema.anyOf ?? [];
  if (schema.const !== undefined) return schema.const;
  if (branch !== undefined) return exampleOf(key, branch);
  switch (schema.type ?? "string") {
    case "boolean":
      return false;
    case "integer":
    case "number":
      return schema.minimum ?? 0;
    case "array":
      return [];
    case "object":
      return {};
    default:
      return examples[key] ?? key;
  }
}

/**
 * Returns the same value in the wanted type if the conversion is unambiguous: 1.0 as text, "5" as a number, one
 * item as a list.
 */
export function retype(
  document: ParsedDocument,
  pointer: string,
  value: unknown,
  wanted: string,
  schema: unknown,
): Fix | null {
  const { pattern } = (schema ?? {}) as PropertySchema;
  switch (wanted) {
    case "string": {
      if (typeof value !== "number" && typeof value !== "boolean") return null;
      if (pattern === durationPattern) return write(document, pointer, `${Number(value)}s`);
      const node = document.nodeAt(pointer);
      const text = node === undefined ? "" : document.text.slice(node.start, node.end);
      if (pattern !== undefined || text === "" || /["\\\n]/.test(text)) return null;
      return fix(`Write "${text}"`, [replaceText(document, pointer, `"${text}"`)], true);
    }
    case "integer":
    case "number": {
      const number = typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;
      const fits = wanted === "integer" ? Number.isSafeInteger(number) : Number.isFinite(number);
      return fits ? write(document, pointer, number) : null;
    }
    case "boolean": {
      const word = String(value).toLowerCase();
      if (/^(?:yes|on|true|1)$/.test(word)) return write(document, pointer, true);
      return /^(?:no|off|false|0)$/.test(word) ? write(document, pointer, false) : null;
    }
    case "array": {
      const isOne = typeof value === "string" && value !== "";
      return isOne ? fix("Write a list of it", [replaceValue(document, pointer, [value])], true) : null;
    }
    default:
      return null;
  }
}

/** Returns a nearly valid text in the form that its schema requires. */
export function remedyPattern(
  document: ParsedDocument,
  pointer: string,
  form: "duration" | "id" | "name",
  value: unknown,
): Fix | null {
  if (typeof value !== "string" || value.length > 256) return null;
  const remedied = form === "duration" ? asDuration(value) : form === "id" ? asId(value) : asName(value);
  return remedied === null || remedied === value ? null : write(document, pointer, remedied);
}

const units: readonly (readonly [RegExp, string])[] = [
  [/^(?:ms|msecs?|millis|milliseconds?)$/, "ms"],
  [/^(?:s|secs?|seconds?)$/, "s"],
  [/^(?:m|mins?|minutes?)$/, "m"],
  [/^(?:h|hrs?|hours?)$/, "h"],
  [/^(?:d|days?)$/, "d"],
];

function asDuration(value: string): string | null {
  const [, amount = "", word = ""] = /^\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*$/.exec(value.toLowerCase()) ?? [];
  const unit = /^w(?:eeks?)?$/.test(word) ? "d" : units.find(([form]) => form.test(word))?.[1];
  if (unit === undefined) return null;
  const text = `${word.startsWith("w") ? Number(amount) * 7 : amount}${unit}`;
  return parseDuration(text).ok ? text : null;
}

function asId(value: string): string | null {
  const words = value
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, "-")
    .replaceAll(/(?<!-)-*\.[.-]*/g, ".")
    .replaceAll(/^[.-]+|(?<![.-])[.-]+$/g, "");
  const id = words.includes(".") ? words : `com.example.${words}`;
  return words !== "" && id.length <= 128 && new RegExp(extensionIdPattern).test(id) ? id : null;
}

function asName(value: string): string | null {
  const name = value
    .replaceAll(/[^A-Za-z0-9_-]+/g, "_")
    .replaceAll(/^[^A-Za-z]+|(?<!_)_+$/g, "")
    .slice(0, 64);
  return name === "" ? null : name;
}

/** Completes `1` and `v1.2` to versions of three numbers. */
export function asVersion(value: string): string | null {
  const [, major, minor = "0", patch = "0"] =
    /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?$/.exec(value.trim()) ?? [];
  return major === undefined ? null : `${major}.${minor}.${patch}`;
}

/** Returns an unused variant of a name that is already taken: `search_2`. */
export function anotherName(value: string, taken: ReadonlySet<string>): string {
  for (let count = 2; ; count++) {
    const name = `${value.slice(0, 60)}_${count}`;
    if (!taken.has(name)) return name;
  }
}

/** Sets a key in the map at `pointer`, replacing any value it has. */
export function set(document: ParsedDocument, pointer: string, key: string, value: unknown): TextEdit | null {
  const isThere = document.nodeAt(`${pointer}/${key}`) !== undefined;
  return isThere
    ? replaceValue(document, `${pointer}/${key}`, value)
    : valueAt(document.value, pointer) === undefined
      ? null
      : insertEntry(document, pointer, key, value);
}
