import { type Diagnostic, diagnostic, type Fix, Lines, maxDiagnostics, type Range } from "./diagnostics.ts";
import { removalOf } from "./text-lines.ts";

export type DocumentFormat = "yaml" | "toml";

/**
 * Bounds on what is read of a document; each is checked before what it bounds is built. Together they keep every piece
 * of work that cannot be interrupted (composing nodes, validating, copying) below 50 ms; see `turns.ts` for the rest.
 */
export const documentLimits = {
  /** Characters of text. */
  characters: 256 * 1024,
  /** Tokens of syntax, before anything is parsed. */
  tokens: 50_000,
  /** Values, those reached through aliases counted each time. */
  values: 5_000,
  depth: 64,
} as const;

/** Keys that reach into JavaScript's objects when they are copied carelessly. */
export const forbiddenKeys: readonly string[] = ["__proto__", "constructor", "prototype"];

/** How a string is written, which decides what in the text its characters come from. */
export type StringStyle = "plain" | "literal" | "escaped" | "other";

/** Where a value stands in the text. Offsets count UTF-16 units. */
export interface SourceNode {
  start: number;
  end: number;
  key?: { start: number; end: number };
  style?: StringStyle;
  readonly children: Map<string, SourceNode>;
}

/** A document's value and the places of all its parts, from either format. */
export interface ParsedDocument {
  /** null where the text could not be read; then `diagnostics` says why. */
  readonly value: unknown;
  readonly diagnostics: readonly Diagnostic[];
  readonly text: string;
  readonly format: DocumentFormat;
  /** Null where the text could not be read. */
  readonly root: SourceNode | null;
  /** The place of exactly this value; undefined where the pointer leads to nothing. */
  readonly nodeAt: (pointer: string) => SourceNode | undefined;
  readonly lines: Lines;
  /**
   * The place of the value a JSON pointer leads to, or of its key. What does not exist is found at the
   * nearest thing that does, so every fault has a place.
   */
  readonly locate: (pointer: string, part?: "key" | "value") => Range;
  /** The place of a piece of a string value; the whole value where the text is too twisted to tell. */
  readonly locateWithin: (pointer: string, offset: number, length: number) => Range;
}

/** A reader of one format: builds the value and the nodes, reports into `fault`. */
export interface Reading {
  readonly value: unknown;
  readonly root: SourceNode;
}

/**
 * `entryEnd`: it is mended by taking away what stands from `start` to there. Returns false once more faults are found
 * than are shown: whoever looks for more can stop.
 */
export type ReportFault = (
  code: Diagnostic["code"],
  start: number,
  end: number,
  message: string,
  entryEnd?: number,
) => boolean;

/** Counts values and depth while a reader builds them; throws {@link TooComplex} beyond the bounds. */
export class Complexity {
  #values = 0;

  enter(depth: number): void {
    if (depth > documentLimits.depth) throw new TooComplex(`more than ${documentLimits.depth} levels deep`);
    if (++this.#values > documentLimits.values)
      throw new TooComplex(`of more than ${documentLimits.values} values`);
  }
}

export class TooComplex extends Error {}

/** Puts what a reader built together with the lookups over it. */
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
  // One past the last character's own, unless the next begins later (an escape, a fold).
  return last === undefined ? undefined : after === last + 1 || after === undefined ? last + 1 : after;
}

/** The keys that a JSON pointer names. */
export function pointerKeys(pointer: string): string[] {
  if (pointer === "") return [];
  return pointer
    .slice(1)
    .split("/")
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** A JSON pointer to `key` below `parent`. */
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
 * For each character of `value`, and for its end, the offset in `text` it was written at; null where
 * the two cannot be brought together. `text` is the value as written, quotes or block header included.
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
      // A folded line break, with the white space around it.
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

/** How much of the text comes before the first character: quotes, or a block's header and indentation. */
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

/** Collects faults with their places. Keeps one more than are shown, so that `inOrder` can say that there are more. */
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
