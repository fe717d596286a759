import {
  documentLimits,
  pointerTo,
  TooComplex,
  valueAt,
  type DocumentFormat,
  type SourceNode,
} from "../text/source.ts";
import type { Steps } from "../text/turns.ts";
import { readingSteps, type LenientReading } from "./reading.ts";
import { mark } from "../text/cursor-mark.ts";
import { withoutMarks, type Spot } from "./spot.ts";
import { findTomlSpot } from "./toml-spot.ts";
import { findYamlSpot } from "./yaml-spot.ts";

/** The position of the cursor in a document's structure, and what may be written there. */
export interface CursorContext {
  readonly format: DocumentFormat;
  /**
   * `key`: the pointer leads to the map that contains the key. `value`: it leads to the value. `either`: it leads
   * to an incomplete value alone on its line, which may also become a map's first key.
   */
  readonly part: "key" | "value" | "either";
  readonly pointer: string;
  /** The other keys of the map. */
  readonly siblings: readonly string[];
  /** The document's value without the word at the cursor, for the values written beside it. */
  readonly document: unknown;
  /** TOML: in a `[header]`, or in the key of a line's pair. */
  readonly statement: "header" | "list-header" | "pair" | null;
  /** YAML: the item is new and needs a dash. */
  readonly needsDash: boolean;
  readonly spot: Spot;
}

/**
 * Yields null if nothing can be written there: in a comment, after a value, in a text beyond the bounds. Never
 * throws.
 */
export function* cursorSteps(
  source: string,
  offset: number,
  format: DocumentFormat,
): Steps<CursorContext | null> {
  if (source.length > documentLimits.characters) return null;
  const text = withoutMarks(source);
  try {
    const spot = format === "yaml" ? yield* findYamlSpot(text, offset) : findTomlSpot(text, offset);
    yield;
    if (spot === null) return null;
    const context = yield* contextOf(spot, format, false);
    return context ?? (spot.isAlone ? yield* contextOf(withDash(spot), format, true) : null);
  } catch (error) {
    if (error instanceof TooComplex || error instanceof RangeError) return null;
    throw error;
  }
}

/** The same line, read as a new item of a list. */
function withDash(spot: Spot): Spot {
  const at = spot.marked.indexOf(mark, spot.lineStart);
  return { ...spot, marked: `${spot.marked.slice(0, at)}- ${spot.marked.slice(at)}` };
}

function* contextOf(spot: Spot, format: DocumentFormat, needsDash: boolean): Steps<CursorContext | null> {
  const reading = yield* readingSteps(spot.marked, format);
  const found = reading === null ? null : findMark(reading.root, reading.value);
  if (reading === null || found === null) return null;
  if (format === "yaml" && spot.isAlone && isMisplaced(reading, spot.marked, found)) return null;
  if (needsDash && !isNextItem(reading.value, found)) return null;
  const statement = statementOf(reading, spot.marked);
  const { keys, key } = found;
  const pointer = pointerTo("", ...keys);
  const common = { format, pointer, document: reading.value, statement, needsDash, spot };
  if (key === null) return { ...common, part: "value", siblings: [] };
  const holder = keys.reduce<SourceNode | undefined>((node, name) => node?.children.get(name), reading.root);
  const siblings = [...(holder?.children.keys() ?? [])].filter((name) => name !== key);
  const isFirst = format === "yaml" && spot.isAlone && siblings.length === 0 && keys.length > 0;
  const isBare = !spot.hasSeparator && holder?.children.get(key)?.children.size === 0;
  return { ...common, part: isFirst && isBare ? "either" : "key", siblings };
}

/**
 * True if the line's indentation matches no level. The parser assigns it to some level, but probably not the
 * intended one.
 */
function isMisplaced({ root }: LenientReading, marked: string, { keys, key }: FoundMark): boolean {
  if (key === null) return false;
  if (key !== mark) return true;
  const column = columnOf(marked, marked.indexOf(mark));
  const holder = keys.reduce<SourceNode | undefined>((node, name) => node?.children.get(name), root);
  return [...(holder?.children ?? [])].some(
    ([name, sibling]) =>
      name !== key && sibling.key !== undefined && columnOf(marked, sibling.key.start) !== column,
  );
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf("\n", offset - 1) + 1);
}

/** True beside other items, the only place for a dash. */
function isNextItem(document: unknown, { keys }: FoundMark): boolean {
  const list = valueAt(document, pointerTo("", ...keys.slice(0, -1)));
  return Array.isArray(list) && list.length > 1;
}

function statementOf({ statements }: LenientReading, marked: string): CursorContext["statement"] {
  const at = marked.indexOf(mark);
  return statements.find(({ start, nameEnd }) => start <= at && at < nameEnd)?.kind ?? null;
}

interface FoundMark {
  /** Returns the path to the value that contains the mark, or to the map that has the mark as a key. */
  readonly keys: readonly string[];
  readonly key: string | null;
}

function findMark(root: SourceNode, value: unknown): FoundMark | null {
  if (typeof value === "string" && value.includes(mark)) return { keys: [], key: null };
  if (typeof value !== "object" || value === null) return null;
  for (const [name, child] of root.children) {
    if (name.includes(mark)) return { keys: [], key: name };
    const found = findMark(child, (value as Record<string, unknown>)[name]);
    if (found !== null) return { keys: [name, ...found.keys], key: found.key };
  }
  return null;
}
