import { unescaped, type Quote } from "./quoting.ts";
import { mark } from "../text/cursor-mark.ts";
import { emptySpot, type Spot } from "./spot.ts";
import { lineEndAfter, tomlTokens, type TomlToken } from "../text/toml-tokens.ts";

/** Does the same as `findYamlSpot` for TOML. Each part of a dotted key is its own word. */
export function findTomlSpot(text: string, offset: number): Spot | null {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const lineEnd = lineEndAfter(text, offset);
  let touched: TomlToken | null = null;
  let previous: TomlToken | null = null;
  for (const token of tomlTokens(text)) {
    if (isTouched(token, offset)) {
      touched = token;
      break;
    }
    if (token.start >= offset) break;
    if (token.kind !== "newline") previous = token;
  }
  const line = { text, offset, lineStart, lineEnd };
  if (touched === null) return between(line, previous);
  if (touched.kind === "comment") return null;
  return touched.kind === "string" ? inString(line, touched) : inBare(line, touched);
}

interface Line {
  readonly text: string;
  readonly offset: number;
  readonly lineStart: number;
  readonly lineEnd: number;
}

function isTouched({ kind, start, end, isClosed }: TomlToken, offset: number): boolean {
  if (kind === "bare") return start <= offset && offset <= end;
  if (kind === "comment") return start < offset && offset <= end;
  return kind === "string" && start < offset && (offset < end || (offset === end && isClosed === false));
}

function between({ text, offset, lineStart, lineEnd }: Line, previous: TomlToken | null): Spot | null {
  const isOnLine = previous !== null && previous.end > lineStart;
  const sign = isOnLine ? text.slice(previous.start, previous.end) : "";
  if (isOnLine && !/^[=[{,]$/.test(sign)) return null;
  const rest = text.slice(offset, lineEnd);
  if (!/^\s*(?:#.*|[,\]}].*)?$/.test(rest)) return null;
  return {
    ...emptySpot,
    start: offset,
    end: offset,
    lineStart,
    isAlone: !isOnLine,
    isInFlow: isOnLine && sign !== "=",
    needsSpace: sign === "=" && previous?.end === offset,
    marked: `${text.slice(0, offset)} ${mark} ${text.slice(offset)}`,
  };
}

function inBare({ text, offset, lineStart, lineEnd }: Line, token: TomlToken): Spot {
  const dot = text.lastIndexOf(".", offset - 1);
  const start = dot >= token.start ? dot + 1 : token.start;
  const next = text.indexOf(".", offset);
  const end = next >= 0 && next < token.end ? next : token.end;
  return {
    ...emptySpot,
    start,
    end,
    lineStart,
    before: text.slice(start, offset),
    after: text.slice(offset, end),
    isAlone: /^\s*$/.test(text.slice(lineStart, start)),
    isInFlow: !/^\s*$/.test(text.slice(lineStart, start)),
    hasSeparator: end < token.end || /^[ \t]*=/.test(text.slice(end, lineEnd)),
    marked: text.slice(0, start) + mark + text.slice(end),
  };
}

function inString({ text, offset, lineStart, lineEnd }: Line, token: TomlToken): Spot | null {
  const quote: Quote = token.quote ?? '"';
  const contentStart = token.start + quote.length;
  const contentEnd = token.isClosed === true ? token.end - quote.length : token.end;
  // Between the opening or the closing quotes.
  if (offset < contentStart || offset > contentEnd) return null;
  const start = Math.max(contentStart, lineStart);
  const end = Math.max(offset, Math.min(contentEnd, lineEnd));
  return {
    ...emptySpot,
    start,
    end,
    quote,
    lineStart,
    isUnclosed: token.isClosed !== true,
    before: unescaped(text.slice(contentStart, offset), quote, "toml"),
    after: unescaped(text.slice(offset, end), quote, "toml"),
    isAlone: /^\s*$/.test(text.slice(lineStart, token.start)),
    hasSeparator: /^[ \t]*=/.test(text.slice(token.end, lineEnd)),
    marked: text.slice(0, start) + mark + text.slice(end),
  };
}
