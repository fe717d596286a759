/** A line of code or of raw HTML looks like a heading sometimes, and is not one. */

interface Fence {
  readonly kind: "fence";
  readonly mark: string;
  readonly length: number;
  /** It began on the line of a list item or quotation, and ends with that at the latest. */
  readonly isInContainer: boolean;
}

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
const containers = /^(?: {0,3}(?:>[ \t]?|(?:[-*+]|\d{1,9}[.)])[ \t]+))+/;
const quotation = /^ {0,3}>/;
const fence = /^ {0,3}(`{3,}|~{3,})(.*)$/;

/** Follows the lines of a Markdown text. Reads each line once, so that a hostile text costs no more than its length. */
export class BlockScanner {
  #open: Block | null = null;

  /** Takes the next line, without its line break. Returns true if it is text: no code and no raw HTML. */
  isText(line: string): boolean {
    if (this.#open?.kind === "html") {
      if (this.#open.end.test(line)) this.#open = null;
      return false;
    }
    if (this.#open?.kind === "fence" && !this.#endsContainer(this.#open, line)) {
      if (closes(this.#open, line)) this.#open = null;
      return false;
    }
    this.#open = opened(line);
    return this.#open === null;
  }

  /** Returns the line that closes the code that the last lines are in; null if an empty line and a heading close it too. */
  get missingEnd(): string | null {
    const open = this.#open;
    return open?.kind === "fence" && !open.isInContainer ? open.mark.repeat(open.length) : null;
  }

  #endsContainer({ isInContainer }: Fence, line: string): boolean {
    return isInContainer && /^\S/.test(line) && !quotation.test(line);
  }
}

function opened(line: string): Block | null {
  const container = containers.exec(line)?.[0] ?? "";
  const [, run = "", info = ""] = fence.exec(line.slice(container.length)) ?? [];
  if (run !== "" && !(run.startsWith("`") && info.includes("`")))
    return { kind: "fence", mark: run.charAt(0), length: run.length, isInContainer: container !== "" };
  const html = htmlBlocks.find(({ start }) => start.test(line));
  if (html === undefined) return null;
  // A comment may end on the line on which it begins.
  const after = line.slice(line.indexOf("<") + 2);
  return html.end.test(after) ? null : { kind: "html", end: html.end };
}

function closes({ mark, length, isInContainer }: Fence, line: string): boolean {
  const inner = isInContainer ? line.replace(containers, "").trimStart() : line;
  const run = /^ {0,3}(`+|~+)[ \t]*$/.exec(inner)?.[1] ?? "";
  return run.startsWith(mark) && run.length >= length;
}
