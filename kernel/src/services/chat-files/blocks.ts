/** A line of code or of raw HTML looks like a heading sometimes, and is not one. */

interface Fence {
  readonly kind: "fence";
  readonly mark: string;
  readonly length: number;
  readonly containers: readonly Container[];
  /** The place of the innermost quotation among the containers; -1 without one. */
  readonly quotation: number;
}

/** A quotation, or an item of a list, whose lines begin with at least so many blanks. */
type Container = "quotation" | number;

interface RawHtml {
  readonly kind: "html";
  readonly end: RegExp;
}

type Block = Fence | RawHtml;

/** CommonMark's blocks of HTML that empty lines do not end, by their first line and what is on their last one. */
const htmlBlocks: readonly { readonly start: RegExp; readonly end: RegExp }[] = [
  {
    start: /^ {0,3}<(?:script|pre|style|textarea)(?:[\s>]|$)/i,
    end: /<\/(?:script|pre|style|textarea)>/i,
  },
  { start: /^ {0,3}<!--/, end: /-->/ },
  { start: /^ {0,3}<\?/, end: /\?>/ },
  { start: /^ {0,3}<![a-z]/i, end: />/ },
  { start: /^ {0,3}<!\[CDATA\[/, end: /\]\]>/ },
];
const fence = /^ {0,3}(`{3,}|~{3,})(.*)/s;
const quotation = / {0,3}> ?/y;
const listItem = / {0,3}(?:[-*+]|\d{1,9}[.)]) {1,4}(?! )/y;
const blanks = / */y;

/** Follows the lines of a Markdown text. Reads each line once, so that a hostile text costs no more than its length. */
export class BlockScanner {
  #open: Block | null = null;

  /** Takes the next line, without its line break. Returns true if it is text: no code and no raw HTML. */
  isText(line: string): boolean {
    if (this.#open?.kind === "html") {
      if (this.#open.end.test(line)) this.#open = null;
      return false;
    }
    if (this.#open?.kind === "fence") {
      const inner = withinContainers(spaced(line), this.#open);
      if (inner !== null) {
        if (closes(this.#open, inner)) this.#open = null;
        return false;
      }
    }
    this.#open = opened(line);
    return this.#open === null;
  }
}

function opened(line: string): Block | null {
  const { containers, rest } = containersOf(spaced(line));
  const [, run = "", info = ""] = fence.exec(rest) ?? [];
  if (run !== "" && !(run.startsWith("`") && info.includes("`")))
    return {
      kind: "fence",
      mark: run.charAt(0),
      length: run.length,
      containers,
      quotation: containers.lastIndexOf("quotation"),
    };
  const html = htmlBlocks.find(({ start }) => start.test(line));
  if (html === undefined) return null;
  // A comment may end on the line on which it begins.
  const after = line.slice(line.indexOf("<") + 2);
  return html.end.test(after) ? null : { kind: "html", end: html.end };
}

function closes({ mark, length }: Fence, line: string): boolean {
  const run = /^ {0,3}(`+|~+) *$/.exec(line)?.[1] ?? "";
  return run.startsWith(mark) && run.length >= length;
}

function containersOf(line: string): { readonly containers: readonly Container[]; readonly rest: string } {
  const containers: Container[] = [];
  let at = 0;
  for (;;) {
    const quoted = lengthAt(quotation, line, at);
    const length = quoted ?? lengthAt(listItem, line, at);
    if (length === null) return { containers, rest: line.slice(at) };
    containers.push(quoted === null ? length : "quotation");
    at += length;
  }
}

/** Returns what a line has within the containers of a block; null if it ends one of them. */
function withinContainers(line: string, { containers, quotation: innermost }: Fence): string | null {
  let at = 0;
  /** Where the blanks end that begin at `at` or before it. */
  let word = 0;
  for (const [index, container] of containers.entries()) {
    if (word <= at) word = at + (lengthAt(blanks, line, at) ?? 0);
    // An empty line ends quotations only.
    if (word === line.length) return innermost >= index ? null : "";
    const length = container === "quotation" ? lengthAt(quotation, line, at) : container;
    if (length === null || (container !== "quotation" && word - at < container)) return null;
    at += length;
  }
  return line.slice(at);
}

function lengthAt(pattern: RegExp, line: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.exec(line)?.[0].length ?? null;
}

/** Returns the line with its tabs expanded to tab stops of four columns, as CommonMark does. */
function spaced(line: string): string {
  if (!line.includes("\t")) return line;
  const [first = "", ...others] = line.split("\t");
  let column = first.length;
  const pieces = [first];
  for (const piece of others) {
    const width = 4 - (column % 4);
    pieces.push(" ".repeat(width), piece);
    column += width + piece.length;
  }
  return pieces.join("");
}
