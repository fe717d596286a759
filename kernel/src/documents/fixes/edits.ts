import type { TextEdit } from "../text/diagnostics.ts";
import { pointerKeys, type ParsedDocument, type SourceNode } from "../text/source.ts";
import { entriesOf, extentOf, isFlow, parentOf } from "./extents.ts";
import { lineEnd, lineStart, newlineOf, nextLine } from "../text/text-lines.ts";
import { entry, rewritten, written } from "./scalars.ts";

/** Maps and lists with more entries than this get no removal fix; nobody writes them by hand. */
const maxSiblings = 2000;

/** Replaces a string value and keeps its quotes. Returns null if there is no string at this place. */
export function replaceString(document: ParsedDocument, pointer: string, value: string): TextEdit | null {
  return replaceText(document, pointer, rewritten(document, pointer, value));
}

/** Replaces a value. */
export function replaceValue(document: ParsedDocument, pointer: string, value: unknown): TextEdit | null {
  return replaceText(document, pointer, written(value, document.format));
}

/** Replaces a value with a text. Returns null if the value is a table that is scattered over the text. */
export function replaceText(document: ParsedDocument, pointer: string, newText: string): TextEdit | null {
  const node = document.nodeAt(pointer);
  if (node === undefined || node.start === node.key?.start || node.end <= node.start) return null;
  return edit(document, node.start, extentOf(document, node).end, newText);
}

export function renameKey(document: ParsedDocument, pointer: string, key: string): TextEdit | null {
  const place = document.nodeAt(pointer)?.key;
  if (place === undefined) return null;
  const text = entry(key, "", document.format).replace(/ ?[:=] $/, "");
  return edit(document, place.start, place.end, text);
}

/**
 * Adds an entry to the map at `pointer`, after the scalar entries that the map begins with, where people would
 * write it.
 */
export function insertEntry(
  document: ParsedDocument,
  pointer: string,
  key: string,
  value: unknown,
): TextEdit | null {
  const map = pointer === "" ? document.root : document.nodeAt(pointer);
  if (map === null || map === undefined) return null;
  const text = entry(key, written(value, document.format), document.format);
  if (isFlow(document, map)) return insertInFlow(document, map, text);
  const children = entriesOf(document, pointer);
  return document.format === "yaml"
    ? insertInBlock(document, children, text)
    : insertInTable(document, pointer, map, children, text);
}

function insertInFlow(document: ParsedDocument, map: SourceNode, text: string): TextEdit {
  const after = map.start + 1;
  const isEmpty = map.children.size === 0;
  return edit(document, after, after, isEmpty ? ` ${text} ` : ` ${text},`);
}

type Entries = ReturnType<typeof entriesOf>;

function insertInBlock(document: ParsedDocument, children: Entries, text: string): TextEdit | null {
  const [first] = children;
  if (first?.node.key === undefined) return null;
  const column = first.node.key.start - lineStart(document.text, first.node.key.start);
  const newline = newlineOf(document.text);
  const anchor = lastSimple(document, children);
  if (anchor === null) {
    const at = first.node.key.start;
    return edit(document, at, at, `${text}${newline}${" ".repeat(column)}`);
  }
  const at = lineEnd(document.text, anchor.extent.end);
  return edit(document, at, at, `${newline}${" ".repeat(column)}${text}`);
}

function insertInTable(
  document: ParsedDocument,
  pointer: string,
  map: SourceNode,
  children: Entries,
  text: string,
): TextEdit | null {
  const newline = newlineOf(document.text);
  const anchor = lastSimple(document, children);
  const key = anchor?.node.key;
  if (anchor !== null && key !== undefined) {
    // `approvals.rules = […]`: the sibling entries are written with the same prefix.
    const prefix = document.text.slice(lineStart(document.text, key.start), key.start);
    const at = lineEnd(document.text, anchor.extent.end);
    return edit(document, at, at, `${newline}${prefix}${text}`);
  }
  if (pointer === "") return edit(document, 0, 0, `${text}${newline}`);
  if (map.key === undefined) return null;
  const line = document.text.slice(lineStart(document.text, map.key.start), map.key.end);
  const rest = document.text.slice(map.key.end, lineEnd(document.text, map.key.end));
  if (!/^\s*\[/.test(line)) return null;
  if (/^\s*\]/.test(rest)) {
    const at = lineEnd(document.text, map.key.end);
    return edit(document, at, at, `${newline}${text}`);
  }
  // Only the header of a deeper table names this one, so the table gets its own header before that.
  const at = lineStart(document.text, map.key.start);
  const header = `[${pointerKeys(pointer).join(".")}]`;
  return /\/\d+(?:\/|$)/.test(pointer)
    ? null
    : edit(document, at, at, `${header}${newline}${text}${newline}${newline}`);
}

/** Returns the last of the leading entries whose values are on one line. */
function lastSimple(document: ParsedDocument, children: Entries): Entries[number] | null {
  let last: Entries[number] | null = null;
  for (const child of children) {
    const { node, extent } = child;
    const isHeader = node.key === undefined || node.start === node.key.start;
    if (isHeader || node.children.size > 0 || isFlow(document, node)) break;
    if (document.text.slice(extent.start, extent.end).includes("\n")) break;
    last = child;
  }
  return last;
}

/** Adds a value to the list at `pointer`. */
export function appendItem(document: ParsedDocument, pointer: string, value: unknown): TextEdit | null {
  const list = document.nodeAt(pointer);
  if (list === undefined) return null;
  const text = written(value, document.format);
  const last = entriesOf(document, pointer).at(-1);
  if (isFlow(document, list)) {
    const at = last?.extent.end ?? list.start + 1;
    return edit(document, at, at, last === undefined ? text : `, ${text}`);
  }
  if (last === undefined || document.format === "toml") return null;
  const start = lineStart(document.text, last.extent.start);
  const dash = /^[ \t]*-[ \t]+/.exec(document.text.slice(start, last.extent.start))?.[0];
  if (dash === undefined) return null;
  const at = lineEnd(document.text, last.extent.end);
  return edit(document, at, at, `${newlineOf(document.text)}${dash}${text}`);
}

/** Removes an entry or item with everything that belongs to it. Returns null if it is not contiguous. */
export function remove(document: ParsedDocument, pointer: string): TextEdit | null {
  const node = document.nodeAt(pointer);
  const parent = parentOf(pointer);
  const holder = parent === "" ? document.root : document.nodeAt(parent);
  if (pointer === "" || node === undefined || holder === null || holder === undefined) return null;
  if (holder.children.size > maxSiblings) return null;
  const siblings = entriesOf(document, parent);
  const index = siblings.findIndex((sibling) => sibling.pointer === pointer);
  const own = siblings[index];
  if (own === undefined) return null;
  const next = siblings[index + 1];
  const previous = siblings[index - 1];
  if (isFlow(document, holder)) {
    if (next !== undefined) return edit(document, own.extent.start, next.extent.start, "");
    return edit(document, previous?.extent.end ?? own.extent.start, own.extent.end, "");
  }
  // An empty block would no longer be a map or a list.
  if (siblings.length === 1 && document.format === "yaml") return remove(document, parent);
  const start = lineStart(document.text, own.extent.start);
  const before = document.text.slice(start, own.extent.start);
  const isItem = own.node.key === undefined && /^[ \t]*-[ \t]+$/.test(before);
  if (/^[ \t]*$/.test(before) || isItem || isHeaderOrPrefix(before, document)) {
    const end = nextLine(document.text, own.extent.end);
    return isAlone(document, pointer, start, end) ? edit(document, start, end, "") : null;
  }
  // The first key of an item follows the dash, so the next key moves there.
  return /-[ \t]+$/.test(before) && next !== undefined && document.format === "yaml"
    ? edit(document, own.extent.start, next.extent.start, "")
    : null;
}

/**
 * Returns what precedes a name in TOML if its line contains nothing else: a header's brackets, or the table's
 * prefix.
 */
function isHeaderOrPrefix(before: string, document: ParsedDocument): boolean {
  return document.format === "toml" && /^(?:\[[^\]=]*|[\w.-]*\.)$/.test(before.trimStart());
}

/** True if no other value begins within the lines to be removed. */
function isAlone(document: ParsedDocument, pointer: string, start: number, end: number): boolean {
  const own = pointerKeys(pointer);
  const search = (node: SourceNode, depth: number, isOnWay: boolean): boolean => {
    for (const [key, child] of node.children) {
      const isNext = isOnWay && key === own[depth];
      if (isNext && depth === own.length - 1) continue;
      const begins = child.key?.start ?? child.start;
      if (!isNext && begins >= start && begins < end) return false;
      if (!search(child, depth + 1, isNext)) return false;
    }
    return true;
  };
  return document.root === null || search(document.root, 0, true);
}

function edit(document: ParsedDocument, start: number, end: number, newText: string): TextEdit {
  return { range: document.lines.range(start, end), newText };
}
