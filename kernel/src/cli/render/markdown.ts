import { marked, type Token, type Tokens } from "marked";
import { plainLine } from "../../base/plain-text.ts";
import { manyLines } from "./foreign.ts";
import { fillSpans, hardWrap, type Paint, type Span } from "./spans.ts";
import type { Style, Surface } from "./style.ts";
import { displayWidth, wrap } from "./width.ts";

/** Longer texts are shown as they are: reading them again for each piece that arrives would take too long. */
export const maxCharacters = 50_000;
/** Deeper quotes and lists are shown as they are. */
const maxDepth = 12;
const narrowest = 8;

const plain: Paint = (text) => text;

/**
 * Renders what a model wrote for a terminal, in lines of at most `width` columns. It is foreign text: no terminal codes,
 * no characters that change direction, no images; HTML is shown as it is written, and a link shows its whole address.
 */
export function renderMarkdown(text: string, surface: Surface): string[] {
  if (text.trim() === "") return [];
  if (text.length > maxCharacters) return asWritten(text, surface);
  try {
    return blocks(marked.lexer(text), surface, 0);
  } catch {
    // Nested too deeply for the parser.
    return asWritten(text, surface);
  }
}

function asWritten(text: string, { width }: Surface): string[] {
  return manyLines(text).flatMap((line) => wrap(line, width));
}

/** Renders blocks; `isBehind`: something else stands above them. */
export function blocks(
  tokens: readonly Token[],
  surface: Surface,
  depth: number,
  isBehind = false,
): string[] {
  const lines: string[] = [];
  for (const token of tokens) {
    if (token.type === "space" || token.type === "def") continue;
    const own = block(token, surface, depth);
    if (own.length === 0) continue;
    if ((isBehind || lines.length > 0) && token.type !== "text") lines.push("");
    for (const line of own) lines.push(line);
  }
  return lines;
}

function block(given: Token, surface: Surface, depth: number): string[] {
  const token = given as Tokens.Generic;
  const { style, width } = surface;
  const inner = (margin: number): Surface => ({ ...surface, width: Math.max(narrowest, width - margin) });
  if (depth > maxDepth) return asWritten(token.raw, surface);
  switch (token.type) {
    case "heading": {
      const head: Span = { text: `${"#".repeat(Number(token["depth"]))} `, paint: style.dim };
      return fillSpans([head, ...inline(token.tokens ?? [], style, style.bold)], width);
    }
    case "paragraph":
    case "text":
      return fillSpans(token.tokens === undefined ? [spanOf(token.raw)] : inline(token.tokens, style), width);
    case "code":
      return manyLines(String(token["text"])).flatMap((line) =>
        hardWrap(line, inner(2).width).map((part) => `${style.dim("│")} ${style.cyan(part)}`),
      );
    case "blockquote":
      return blocks(token.tokens ?? [], inner(2), depth + 1).map((line) => `${style.dim("┆")} ${line}`);
    case "list":
      return list(token as Tokens.List, surface, depth);
    case "hr":
      return [style.dim("─".repeat(Math.min(width, 40)))];
    case "table":
      return table(token as Tokens.Table, surface);
    default:
      // HTML, and what later versions of the parser may add.
      return asWritten(token.raw.trimEnd(), surface);
  }
}

function list({ ordered, start, items, loose }: Tokens.List, surface: Surface, depth: number): string[] {
  const first = ordered && typeof start === "number" ? start : 1;
  return items.flatMap((item, index) => {
    const sign = ordered ? `${first + index}.` : "•";
    const mark = item.task ? `${sign} [${item.checked === true ? "x" : " "}]` : sign;
    const margin = displayWidth(mark) + 1;
    const width = Math.max(narrowest, surface.width - margin);
    const tokens = item.tokens.filter(({ type }) => type !== "checkbox");
    const lines = blocks(tokens, { ...surface, width }, depth + 1);
    const shown = tight(lines, loose).map((line, row) =>
      row === 0 ? `${mark} ${line}` : line === "" ? "" : " ".repeat(margin) + line,
    );
    const [head = mark] = shown;
    return [...(loose && index > 0 ? [""] : []), head, ...shown.slice(1)];
  });
}

/** A tight list has no empty lines between its text and the list in it. */
function tight(lines: readonly string[], isLoose: boolean): readonly string[] {
  return isLoose ? lines : lines.filter((line) => line !== "");
}

function table({ header, rows }: Tokens.Table, surface: Surface): string[] {
  const { style, width } = surface;
  const textOf = ({ tokens }: Tokens.TableCell, paint: Paint = plain): Span[] => inline(tokens, style, paint);
  const widthOf = (spans: readonly Span[]): number =>
    spans.reduce((sum, { text }) => sum + displayWidth(text), 0);
  const widths = header.map((cell, column) =>
    Math.max(
      widthOf(textOf(cell)),
      ...rows.map((row) => (row[column] === undefined ? 0 : widthOf(textOf(row[column])))),
    ),
  );
  const gap = 2;
  if (widths.reduce((sum, each) => sum + each + gap, -gap) > width)
    // Too wide: one line for each cell.
    return rows.flatMap((row, index) => [
      ...(index === 0 ? [] : [""]),
      ...row.flatMap((cell, column) => {
        const name = header[column] === undefined ? [] : textOf(header[column], style.dim);
        return fillSpans([...name, { text: ": ", paint: style.dim }, ...textOf(cell)], width);
      }),
    ]);
  const line = (cells: readonly Tokens.TableCell[], paint: Paint): string =>
    cells
      .map((cell, column) => {
        const spans = textOf(cell, paint);
        const text = spans.map((span) => span.paint(span.text)).join("");
        const room = (widths[column] ?? 0) - widthOf(spans);
        const blank = " ".repeat(Math.max(0, room));
        return cell.align === "right" ? blank + text : text + blank;
      })
      .join(" ".repeat(gap))
      .trimEnd();
  return [
    line(header, style.bold),
    style.dim(widths.map((each) => "─".repeat(each)).join(" ".repeat(gap))),
    ...rows.map((row) => line(row, plain)),
  ];
}

function inline(tokens: readonly Token[], style: Style, paint: Paint = plain, depth = 0): Span[] {
  return tokens.flatMap((given): Span[] => {
    const token = given as Tokens.Generic;
    const within = (more: Paint): Span[] =>
      token.tokens === undefined || depth > maxDepth
        ? [{ text: foreign(token.raw), paint: (text) => more(paint(text)) }]
        : inline(token.tokens, style, (text) => more(paint(text)), depth + 1);
    switch (token.type) {
      case "strong":
        return within(style.bold);
      case "em":
        return within(style.italic);
      case "del":
        return within(style.strikethrough);
      case "codespan":
        return [{ text: plainLine(String(token["text"])), paint: style.cyan }];
      case "br":
        return [{ text: "\n", paint: plain }];
      case "link":
        return linked(within(style.underline), String(token["href"]), style);
      case "image": {
        const words = foreign(String(token["text"]));
        const named: Span = { text: `[picture${words === "" ? "" : `: ${words}`}]`, paint };
        return linked([named], String(token["href"]), style);
      }
      case "escape":
        return [{ text: foreign(String(token["text"])), paint }];
      case "text":
        return token.tokens === undefined ? [{ text: foreign(token.raw), paint }] : within(plain);
      default:
        return [{ text: foreign(token.raw), paint }];
    }
  });
}

/** A link is its text and its whole address. */
function linked(text: readonly Span[], href: string, style: Style): Span[] {
  const address = foreign(href);
  const shown = text.map((span) => span.text).join("");
  if (shown === address || `mailto:${shown}` === address) return [...text];
  return [...text, { text: ` (${address})`, paint: style.dim }];
}

function spanOf(text: string): Span {
  return { text: foreign(text), paint: plain };
}

const entities: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&amp;": "&",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": " ",
};

function foreign(text: string): string {
  return plainLine(text.replace(/&(?:lt|gt|amp|quot|#39|nbsp);/g, (entity) => entities[entity] ?? entity));
}
