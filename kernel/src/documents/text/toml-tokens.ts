import { documentLimits, TooComplex } from "./source.ts";

export interface TomlToken {
  readonly kind: "comment" | "newline" | "string" | "bare" | "punctuation";
  readonly start: number;
  readonly end: number;
  /** A string's kind of quotes. */
  readonly quote?: '"' | "'" | '"""' | "'''";
  /** True if the string's closing quotes are present. */
  readonly isClosed?: boolean;
}

const punctuation = new Set(["=", "[", "]", "{", "}", ","]);

/**
 * Returns the tokens of a TOML text, even if it is invalid, without white space. An unclosed string ends at its
 * line's end. A bare word includes its dots, so that a dotted key or a number is one token. Throws {@link
 * TooComplex} for too many tokens or dots; each part of a key creates a table.
 */
export function tomlTokens(text: string): TomlToken[] {
  const tokens: TomlToken[] = [];
  const dots = new Dots(text);
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === " " || character === "\t" || character === "\r" || character === "\ufeff") {
      at++;
      continue;
    }
    if (tokens.length >= documentLimits.tokens)
      throw new TooComplex(`of more than ${documentLimits.tokens} tokens`);
    const token = readToken(text, at, character);
    dots.count(token);
    tokens.push(token);
    at = token.end;
  }
  return tokens;
}

/** Bounds the dots of one key, including quoted parts, and those of the whole text. */
class Dots {
  readonly #text: string;
  #ofKey = 0;
  #ofText = 0;

  constructor(text: string) {
    this.#text = text;
  }

  count({ kind, start, end }: TomlToken): void {
    if (kind === "punctuation" || kind === "newline") this.#ofKey = 0;
    if (kind !== "bare") return;
    for (let at = start; at < end; at++) {
      if (this.#text.charAt(at) !== ".") continue;
      if (++this.#ofKey > documentLimits.depth)
        throw new TooComplex(`more than ${documentLimits.depth} levels deep`);
      if (++this.#ofText > documentLimits.values)
        throw new TooComplex(`of more than ${documentLimits.values} dots`);
    }
  }
}

function readToken(text: string, start: number, character: string): TomlToken {
  if (character === "\n") return { kind: "newline", start, end: start + 1 };
  if (character === "#") return { kind: "comment", start, end: lineEndAfter(text, start) };
  if (character === '"' || character === "'") return readString(text, start, character);
  if (punctuation.has(character)) return { kind: "punctuation", start, end: start + 1 };
  let end = start + 1;
  while (end < text.length && !/[\s#=[\]{},"']/.test(text.charAt(end))) end++;
  return { kind: "bare", start, end };
}

function readString(text: string, start: number, mark: '"' | "'"): TomlToken {
  const triple = mark === '"' ? '"""' : "'''";
  const isTriple = text.startsWith(triple, start);
  const quote = isTriple ? triple : mark;
  const limit = isTriple ? text.length : lineEndAfter(text, start);
  for (let at = start + quote.length; at < limit; at++) {
    if (mark === '"' && text.charAt(at) === "\\") at++;
    else if (text.startsWith(quote, at)) {
      // One or two quotes may directly precede the closing three.
      const more = isTriple ? text.slice(at + 3, at + 5) : "";
      const extra = more === mark + mark ? 2 : more.startsWith(mark) ? 1 : 0;
      const end = at + quote.length + extra;
      return { kind: "string", start, end, quote, isClosed: true };
    }
  }
  return { kind: "string", start, end: limit, quote, isClosed: false };
}

/** Returns the end of the line that contains `offset`, without its line break. */
export function lineEndAfter(text: string, offset: number): number {
  const newline = text.indexOf("\n", offset);
  const end = newline < 0 ? text.length : newline;
  return end > offset && text.charAt(end - 1) === "\r" ? end - 1 : end;
}
