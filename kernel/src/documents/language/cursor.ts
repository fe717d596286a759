import {
  documentLimits,
  pointerTo,
  TooComplex,
  valueAt,
  type DocumentFormat,
  type SourceNode,
} from "../text/source.ts";
import { atOnce, type Steps } from "../text/turns.ts";
import { readingSteps, type LenientReading } from "./reading.ts";
import { mark } from "../text/cursor-mark.ts";
import { withoutMarks, type Spot } from "./spot.ts";
import { findTomlSpot } from "./toml-spot.ts";
import { findYamlSpot } from "./yaml-spot.ts";

/** Where in a document the cursor stands, and what it would write there. */
export interface CursorContext {
  readonly format: DocumentFormat;
  /**
   * `key`: the pointer is that of the map the key is one of. `value`: of the value itself. `either`: of a value that
   * has only begun, alone on its line, so that it may become a map's first key as well.
   */
  readonly part: "key" | "value" | "either";
  readonly pointer: string;
  /** The other keys of that map. */
  readonly siblings: readonly string[];
  /** Of the document, the word at the cursor left out: for what is written beside it. */
  readonly document: unknown;
  /** TOML: in a `[header]`, or the name of a line's own pair. */
  readonly statement: "header" | "list-header" | "pair" | null;
  /** YAML: the item is new and has to get its dash. */
  readonly needsDash: boolean;
  readonly spot: Spot;
}

/** Where the cursor stands, at once; see {@link cursorSteps}. For texts known to be short. */
export function cursorContext(source: string, offset: number, format: DocumentFormat): CursorContext | null {
  return atOnce(cursorSteps(source, offset, format));
}

/** Null where nothing can be written: in a comment, behind a value, in a text that is beyond all bounds. Never throws. */
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

/** The same line as a new item of a list. */
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

/** A line whose indentation fits nothing: the parser puts it somewhere, but nobody meant that. */
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

/** A dash makes sense beside other items only. */
function isNextItem(document: unknown, { keys }: FoundMark): boolean {
  const list = valueAt(document, pointerTo("", ...keys.slice(0, -1)));
  return Array.isArray(list) && list.length > 1;
}

function statementOf({ statements }: LenientReading, marked: string): CursorContext["statement"] {
  const at = marked.indexOf(mark);
  return statements.find(({ start, nameEnd }) => start <= at && at < nameEnd)?.kind ?? null;
}

interface FoundMark {
  /** To the value with the mark in it, or to the map that has it as a key. */
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
