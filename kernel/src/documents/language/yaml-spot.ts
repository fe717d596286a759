import { Lexer } from "yaml";
import { documentLimits, TooComplex } from "../text/source.ts";
import type { Steps } from "../text/turns.ts";
import { unescaped, type Quote } from "./quoting.ts";
import { mark } from "../text/cursor-mark.ts";
import { emptySpot, type Spot } from "./spot.ts";
import { lineEndAfter } from "../text/toml-tokens.ts";

type Kind = "plain" | "quoted" | "block" | "comment" | "reference" | "space" | "newline" | "sign" | "other";

interface Token {
  readonly kind: Kind;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Returns the word at the cursor. Returns null if nothing can be written there: in comments, in directives, after
 * a value. `text` is without marks (see `withoutMarks`). Takes time linear in the text. Throws {@link TooComplex}
 * beyond the bounds of documents.
 */
export function* findYamlSpot(text: string, offset: number, repairs = 0): Steps<Spot | null> {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const { token, previous, flowDepth, forgotten } = yield* tokenAt(text, offset, lineStart);
  if (forgotten !== null) {
    if (repairs >= maxRepairs) return null;
    const at = lineEndAfter(text, forgotten);
    const repaired = text.slice(0, at) + text.charAt(forgotten) + text.slice(at);
    const spot = yield* findYamlSpot(repaired, offset + 1, repairs + 1);
    return spot && { ...spot, start: spot.start - 1, end: spot.end - 1, lineStart: spot.lineStart - 1 };
  }
  const lineEnd = lineEndAfter(text, offset);
  const line = { text, offset, lineStart, lineEnd, isInFlow: flowDepth > 0 };
  if (token === null) return between(line, previous);
  if (token.kind === "plain") return inPlain(line, token);
  if (token.kind === "quoted") return inQuotes(line, token);
  return token.kind === "block" ? inBlock(line, token) : null;
}

/** Maximum number of unclosed quotes before the cursor that are closed automatically. */
const maxRepairs = 8;

/** A quoted text that continues with what looks like the next key. */
const swallowsKey = /^.[^\n]*\n[ \t]*(?:- +)*[\w$.-]+:(?:[ \t\r\n]|$)/;

interface Line {
  readonly text: string;
  readonly offset: number;
  readonly lineStart: number;
  readonly lineEnd: number;
  readonly isInFlow: boolean;
}

/** The range has zero width: no word is at the cursor. */
function between(line: Line, previous: Token | null): Spot | null {
  const { text, offset, lineStart, lineEnd, isInFlow } = line;
  const rest = text.slice(offset, lineEnd);
  const isOnLine = previous !== null && previous.end > lineStart;
  if (isOnLine && previous.kind !== "sign" && previous.kind !== "reference") return null;
  if (isOnLine && /^[}\]]$/.test(previous.text)) return null;
  const isLast = /^\s*(?:#.*)?$/.test(rest);
  if (!isLast && !(isInFlow && /^\s*[,}\]]/.test(rest))) return null;
  const isAlone = !isInFlow && isIndentation(text.slice(lineStart, offset));
  const needsSpace = isOnLine && previous.end === offset && /^[-:?]$/.test(previous.text);
  const inserted = `${needsSpace ? " " : ""}${mark}${isAlone ? ":" : ""}`;
  return {
    ...emptySpot,
    start: offset,
    end: offset,
    isAlone,
    needsSpace,
    isInFlow,
    lineStart,
    marked: text.slice(0, offset) + inserted + text.slice(offset),
  };
}

function inPlain(line: Line, token: Token): Spot {
  const { text, offset, lineStart, lineEnd, isInFlow } = line;
  const indentation = /^\s*/.exec(text.slice(lineStart, lineEnd))?.[0].length ?? 0;
  const start = Math.max(token.start, Math.min(offset, lineStart + indentation));
  const end = Math.max(offset, Math.min(token.end, lineEnd));
  const rest = text.slice(end, lineEnd);
  const hasSeparator = /^[ \t]*:(?=[\s,{}[\]]|$)/.test(rest);
  const isContinued = token.start < lineStart && !hasSeparator;
  const isAlone = !isInFlow && !isContinued && isIndentation(text.slice(lineStart, start));
  const isLast = /^\s*(?:#.*)?$/.test(rest);
  const colon = isAlone && !hasSeparator && isLast ? ":" : "";
  const from = isContinued ? token.start : start;
  return {
    ...emptySpot,
    start,
    end,
    isAlone,
    hasSeparator,
    isInFlow,
    lineStart,
    before: unfolded(text.slice(from, offset)),
    after: text.slice(offset, end),
    marked: text.slice(0, start) + mark + colon + text.slice(end),
  };
}

function inQuotes(line: Line, token: Token): Spot | null {
  const { text, offset, lineStart, lineEnd, isInFlow } = line;
  const quote = token.text.charAt(0) as Quote;
  const isOpenEnded = token.text.length < 2 || !token.text.endsWith(quote);
  // Quotes that are closed on a later line were usually forgotten on this line.
  const isUnclosed = isOpenEnded || (token.start >= lineStart && token.end > lineEnd);
  if (!isUnclosed && offset === token.end) return null;
  const contentStart = token.start + 1;
  const contentEnd = isUnclosed ? lineEnd : token.end - 1;
  const start = Math.max(contentStart, lineStart);
  const end = Math.max(offset, Math.min(contentEnd, lineEnd));
  const hasSeparator = !isUnclosed && /^[ \t]*:(?=[\s,{}[\]]|$)/.test(text.slice(token.end, lineEnd));
  const isAlone = !isInFlow && token.start >= lineStart && isIndentation(text.slice(lineStart, token.start));
  const close = isUnclosed ? quote : "";
  return {
    ...emptySpot,
    start,
    end,
    quote,
    isAlone,
    hasSeparator,
    isInFlow,
    lineStart,
    isUnclosed,
    before: unescaped(unfolded(text.slice(contentStart, offset)), quote, "yaml"),
    after: unescaped(text.slice(offset, end), quote, "yaml"),
    marked: text.slice(0, start) + mark + close + text.slice(isUnclosed ? lineEnd : end),
  };
}

function inBlock(line: Line, token: Token): Spot | null {
  const { text, offset, lineStart, lineEnd } = line;
  const indentation = /^ */.exec(token.text)?.[0].length ?? 0;
  const column = offset - lineStart;
  // A line that begins before the block's indentation ends the block.
  if (column < indentation) return between(line, null);
  const start = lineStart + indentation;
  return {
    ...emptySpot,
    start,
    end: Math.max(offset, lineEnd),
    quote: "block",
    lineStart,
    before: unfolded(text.slice(token.start + indentation, offset)),
    after: text.slice(offset, lineEnd),
    marked: text.slice(0, start) + mark + text.slice(lineEnd),
  };
}

/**
 * Joins a multi-line value as a YAML reader does. Works line by line: one expression for line breaks with
 * surrounding spaces takes quadratic time on a long run of spaces.
 */
function unfolded(written: string): string {
  const [first = "", ...others] = written.split("\n");
  const last = others.pop();
  if (last === undefined) return written;
  const between = others.map((line) => line.trim()).filter((line) => line !== "");
  return [first.trimEnd(), ...between, last.trimStart()].join(" ");
}

function isIndentation(text: string): boolean {
  return /^\ufeff?\s*(?:[-?](?:\s+|$))*$/.test(text);
}

/** Number of tokens between two yields. */
const tokensPerStep = 256;

interface Found {
  readonly token: Token | null;
  readonly previous: Token | null;
  readonly flowDepth: number;
  /** Returns the position of a quote on an earlier line that was probably meant to be closed on that line. */
  readonly forgotten: number | null;
}

/** Returns the token that contains the cursor or ends at it, and the last significant token before it. */
function* tokenAt(text: string, offset: number, lineStart: number): Steps<Found> {
  let at = 0;
  let flowDepth = 0;
  let isScalar = false;
  let isBlock = false;
  let previous: Token | null = null;
  let count = 0;
  for (const source of new Lexer().lex(text)) {
    if (++count > documentLimits.tokens) throw new TooComplex(`of more than ${documentLimits.tokens} tokens`);
    if (count % tokensPerStep === 0) yield;
    // Tokens that the lexer inserts have no text.
    if (source === "\u0002") continue;
    if (source === "\u0018") {
      flowDepth = 0;
      continue;
    }
    if (source === "\u001f") {
      isScalar = true;
      continue;
    }
    const start = at;
    at += source.length;
    const kind = isScalar ? (isBlock ? "block" : "plain") : kindOf(source);
    if (kind !== "newline" && kind !== "comment" && kind !== "space") isBlock = false;
    if (!isScalar && /^[|>]/.test(source)) isBlock = true;
    isScalar = false;
    const token: Token = { kind, start, end: at, text: source };
    if (kind === "quoted" && start < lineStart && isForgotten(source))
      return { token: null, previous, flowDepth, forgotten: start };
    if (isTouched(token, offset)) return { token, previous, flowDepth, forgotten: null };
    if (start >= offset) break;
    if (source === "[" || source === "{") flowDepth++;
    else if (source === "]" || source === "}") flowDepth--;
    if (kind !== "space" && kind !== "newline") previous = token;
  }
  return { token: null, previous, flowDepth, forgotten: null };
}

function isForgotten(quoted: string): boolean {
  const isClosed = quoted.length > 1 && quoted.endsWith(quoted.charAt(0));
  return quoted.includes("\n") && (!isClosed || swallowsKey.test(quoted));
}

function isTouched({ kind, start, end }: Token, offset: number): boolean {
  switch (kind) {
    case "plain":
      return start <= offset && offset <= end;
    case "block":
      return start <= offset && offset < end;
    case "quoted":
    case "comment":
    case "reference":
    case "other":
      return start < offset && offset <= end;
    case "space":
    case "newline":
    case "sign":
      return false;
  }
}

function kindOf(source: string): Kind {
  switch (source.charAt(0)) {
    case '"':
    case "'":
      return "quoted";
    case "#":
      return "comment";
    case "&":
    case "*":
    case "!":
      return "reference";
    case " ":
    case "\t":
    case "\ufeff":
      return "space";
    case "\n":
    case "\r":
      return "newline";
    case ":":
    case "-":
    case "?":
    case ",":
    case "[":
    case "]":
    case "{":
    case "}":
      return source.length === 1 ? "sign" : "other";
    default:
      return "other";
  }
}
