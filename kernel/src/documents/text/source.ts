import { type Diagnostic, diagnostic, type Fix, Lines, maxDiagnostics, type Range } from "./diagnostics.ts";
import { removalOf } from "./text-lines.ts";

export type DocumentFormat = "yaml" | "toml";

/**
 * Bounds on a document. Each is checked before the data that it bounds is built. Together they limit every
 * uninterruptible step (composing nodes, validating, copying) to 50 ms; see `turns.ts` for the rest.
 */
export const documentLimits = {
  /** Characters of text. */
  characters: 256 * 1024,
  /** Syntax tokens, counted before parsing. */
  tokens: 50_000,
  /** Values, counting those reached through aliases each time. */
  values: 8_000,
  depth: 64,
} as const;

/** Keys that modify JavaScript prototypes when they are copied carelessly. */
export const forbiddenKeys: readonly string[] = ["__proto__", "constructor", "prototype"];

/** The notation of a string, which determines how its characters map to the text. */
export type StringStyle = "plain" | "literal" | "escaped" | "other";

/** The place of a value in the text. Offsets count UTF-16 units. */
export interface SourceNode {
  start: number;
  end: number;
  key?: { start: number; end: number };
  style?: StringStyle;
  readonly children: Map<string, SourceNode>;
}

/** A document's value and the places of all its parts, from either format. */
export interface ParsedDocument {
  /** Null if the text could not be read; `diagnostics` says why. */
  readonly value: unknown;
  readonly diagnostics: readonly Diagnostic[];
  readonly text: string;
  readonly format: DocumentFormat;
  /** Null if the text could not be read. */
  readonly root: SourceNode | null;
  /** Returns the place of exactly this value; undefined if the pointer leads to nothing. */
  readonly nodeAt: (pointer: string) => SourceNode | undefined;
  readonly lines: Lines;
  /**
   * Returns the place of the value that a JSON pointer leads to, or of its key. If it does not exist, returns the
   * place of its nearest existing ancestor, so that every error has a place.
   */
  readonly locate: (pointer: string, part?: "key" | "value") => Range;
  /** Returns the place of a part of a string value, or of the whole value if the part cannot be located. */
  readonly locateWithin: (pointer: string, offset: number, length: number) => Range;
}

/** The reader of one format. It builds the value and the nodes, and reports errors to `fault`. */
export interface Reading {
  readonly value: unknown;
  readonly root: SourceNode;
}

/**
 * `entryEnd`: the fix removes the text from `start` to there. Returns false once there are more errors than are
 * shown, so that the caller can stop.
 */
export type ReportFault = (
  code: Diagnostic["code"],
  start: number,
  end: number,
  message: string,
  entryEnd?: number,
) => boolean;

/** Counts values and depth while a reader builds them. Throws {@link TooComplex} beyond the bounds. */
export class Complexity {
  #values = 0;

  enter(depth: number): void {
    if (depth > documentLimits.depth) throw new TooComplex(`more than ${documentLimits.depth} levels deep`);
    if (++this.#values > documentLimits.values)
      throw new TooComplex(`of more than ${documentLimits.values} values`);
  }
}

export class TooComplex extends Error {}

/** Combines a reader's result with its lookups. */
export function assemble(
  text: string,
  format: DocumentFormat,
  reading: Reading | null,
  diagnostics: readonly Diagnostic[],
): ParsedDocument {
  const lines = new Lines(text);
  const nodeAt = (pointer: string): { node: SourceNode | undefined; found: boolean } => {
    let node = reading?.root;
    for (const key of pointerKeys(pointer)) {
      const child = node?.children.get(key);
      if (child === undefined) return { node, found: false };
      node = child;
    }
    return { node, found: true };
  };
  const firstLine = lines.range(0, Math.max(0, text.search(/\r?\n|$/)));
  const locate: ParsedDocument["locate"] = (pointer, part = "value") => {
    const { node, found } = nodeAt(pointer);
    if (node === undefined || node === reading?.root) return firstLine;
    const place = part === "key" || !found ? (node.key ?? node) : node;
    return lines.range(place.start, place.end);
  };
  return {
    value: diagnostics.some(({ severity }) => severity === "error") ? null : (reading?.value ?? null),
    diagnostics,
    text,
    format,
    root: reading?.root ?? null,
    nodeAt: (pointer) => {
      const { node, found } = nodeAt(pointer);
      return found ? node : undefined;
    },
    lines,
    locate,
    locateWithin: (pointer, offset, length) => {
      const { node, found } = nodeAt(pointer);
      const value: unknown = valueAt(reading?.value, pointer);
      if (!found || node?.style === undefined || typeof value !== "string") return locate(pointer);
      const offsets = offsetsOf(text.slice(node.start, node.end), value, node.style);
      const start = offsets?.[offset];
      const end = length === 0 ? start : lastOffset(offsets, offset + length);
      if (start === undefined || end === undefined) return locate(pointer);
      return lines.range(node.start + start, node.start + end);
    },
  };
}

function lastOffset(offsets: readonly number[] | null, end: number): number | undefined {
  const last = offsets?.[end - 1];
  const after = offsets?.[end];
  // One past the last character, unless the next character begins later (an escape, a folded line).
  return last === undefined ? undefined : after === last + 1 || after === undefined ? last + 1 : after;
}

/** Returns the keys of a JSON pointer. */
export function pointerKeys(pointer: string): string[] {
  if (pointer === "") return [];
  return pointer
    .slice(1)
    .split("/")
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Returns the JSON pointer to `key` below `parent`. */
export function pointerTo(parent: string, ...keys: readonly (string | number)[]): string {
  return keys.reduce<string>(
    (pointer, key) => `${pointer}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`,
    parent,
  );
}

export function valueAt(value: unknown, pointer: string): unknown {
  let current = value;
  for (const key of pointerKeys(pointer)) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}

/**
 * Returns, for each character of `value` and for its end, the offset in `text` where it was written; null if they
 * cannot be matched. `text` is the value as written, including quotes or block header.
 */
export function offsetsOf(text: string, value: string, style: StringStyle): number[] | null {
  const offsets: number[] = [];
  let at = openingLength(text);
  const quote = text.charAt(0);
  for (let index = 0; index < value.length;) {
    const wanted = value.charAt(index);
    const escape = style === "escaped" && text.charAt(at) === "\\" ? readEscape(text, at) : null;
    if (escape !== null) {
      if (escape.length > 0 && !value.startsWith(escape.characters, index)) return null;
      for (let unit = 0; unit < escape.characters.length; unit++) offsets.push(at);
      index += escape.characters.length;
      at += escape.length;
    } else if (
      style === "literal" &&
      quote === "'" &&
      text.startsWith("''", at) &&
      wanted === "'" &&
      !text.startsWith("'''")
    ) {
      offsets.push(at);
      index++;
      at += 2;
    } else if (text.charAt(at) === wanted) {
      offsets.push(at);
      index++;
      at++;
      if (wanted === "\n") at += indentation(text, at) - indentation(value, index);
    } else if (wanted === " " && /[\r\n\t ]/.test(text.charAt(at))) {
      // A folded line break with its surrounding white space.
      offsets.push(at);
      index++;
      at += /^[\t ]*\r?\n[\t ]*/.exec(text.slice(at))?.[0].length ?? 1;
    } else if (wanted === "\n" && text.charAt(at) === "\r") {
      at++;
    } else {
      return null;
    }
  }
  offsets.push(at);
  return offsets;
}

function indentation(text: string, from: number): number {
  let at = from;
  while (text.charAt(at) === " ") at++;
  return at - from;
}

/** Returns the length of the text before the first character: quotes, or a block's header and indentation. */
function openingLength(text: string): number {
  const block = /^[|>][^\n]*\n */.exec(text);
  if (block !== null) return block[0].length;
  const multiLine = /^("""|''')(?:\r?\n)?/.exec(text);
  if (multiLine !== null && text.length >= 6) return multiLine[0].length;
  return /^["']/.test(text) ? 1 : 0;
}

const namedEscapes: Readonly<Record<string, string>> = {
  "0": "\0",
  a: "\x07",
  b: "\b",
  t: "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
  e: "\x1b",
  " ": " ",
  '"': '"',
  "/": "/",
  "\\": "\\",
  N: "\x85",
  _: "\xa0",
  L: "\u2028",
  P: "\u2029",
};

function readEscape(text: string, at: number): { characters: string; length: number } | null {
  const lineBreak = /^\\[\t ]*\r?\n\s*/.exec(text.slice(at, at + 4096));
  if (lineBreak !== null) return { characters: "", length: lineBreak[0].length };
  const code = /^\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/.exec(text.slice(at, at + 10));
  if (code !== null) {
    const point = Number.parseInt(code[1] ?? code[2] ?? code[3] ?? "", 16);
    return point > 0x10ffff ? null : { characters: String.fromCodePoint(point), length: code[0].length };
  }
  const named = namedEscapes[text.charAt(at + 1)];
  return named === undefined ? null : { characters: named, length: 2 };
}

/**
 * Collects errors with their places. Stores one more than is shown, so that `inOrder` can report that there are
 * more.
 */
export class Faults {
  readonly found: Diagnostic[] = [];
  readonly #text: string;
  readonly #lines: Lines;

  constructor(text: string) {
    this.#text = text;
    this.#lines = new Lines(text);
  }

  readonly report: ReportFault = (code, start, end, message, entryEnd) => {
    if (this.found.length > maxDiagnostics) return false;
    const removal = entryEnd === undefined ? null : removalOf(this.#text, start, entryEnd);
    const fix: Fix | null = removal && {
      title: "Remove this entry",
      edits: [{ range: this.#lines.range(removal.start, removal.end), newText: "" }],
    };
    this.found.push(diagnostic(code, this.#lines.range(start, end), message, [fix]));
    return this.found.length <= maxDiagnostics;
  };
}
