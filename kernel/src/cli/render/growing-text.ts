import { marked, type Token } from "marked";
import { manyLines } from "./foreign.ts";
import { chained, type Lines } from "./lines.ts";
import { blocks, maxCharacters, renderMarkdown } from "./markdown.ts";
import type { Surface } from "./style.ts";
import { wrap } from "./width.ts";

/** Two lines that have ended at the beginning of a block: a table and some headings are known by their second line. */
const wholeLines = /^[^\S\n\r\u2028\u2029]*\S.*\n.*\n/;

type Form = "markdown" | "as written";

/**
 * Lays out a text that grows at its end, as `renderMarkdown` does, or as it is written. What more text cannot change is
 * laid out once, so that adding to a long text costs what adding to a short one does.
 * A link whose address stands in another block is shown as it is written until the text is whole.
 */
export class GrowingText {
  readonly #surface: Surface;
  #form: Form;
  /** Lines of the text that this one continues. */
  #before: Lines = [];
  /** Lines that stay. */
  #settled: string[] = [];
  /** The text behind them. */
  #tail = "";
  #rest: readonly string[] = [];
  /** The whole text, while it may have to be laid out again. */
  #whole = "";
  #length = 0;
  /** Half of a line's end or of a character. */
  #half = "";
  #isBlank = true;
  #isDue = false;

  constructor(surface: Surface, form: Form) {
    this.#surface = surface;
    this.#form = form;
  }

  add(added: string): void {
    const joined = this.#half + added;
    this.#half = /[\r\ud800-\udbff]$/.exec(joined)?.[0] ?? "";
    const text = joined.slice(0, joined.length - this.#half.length).replace(/\r\n?/g, "\n");
    if (text === "") return;
    this.#isBlank &&= text.trim() === "";
    this.#isDue = true;
    this.#length += text.length;
    if (this.#form === "as written") {
      this.#tail += manyLines(text).join("\n");
      return;
    }
    this.#tail += text;
    this.#whole += text;
    if (this.#length > maxCharacters) this.#beAsWritten();
  }

  /** Returns its lines as they are now. */
  get lines(): Lines {
    this.#layOut();
    return chained([this.#before, this.#settled, this.#rest]);
  }

  /** Returns a text that continues this one, which stays as it is. */
  continued(): GrowingText {
    this.#layOut();
    const next = new GrowingText(this.#surface, this.#form);
    next.#before = chained([this.#before, this.#settled]);
    next.#tail = this.#tail;
    next.#rest = this.#rest;
    next.#whole = this.#whole;
    next.#length = this.#length;
    next.#half = this.#half;
    next.#isBlank = this.#isBlank;
    return next;
  }

  /** Markdown of this length is not read: it is laid out again. */
  #beAsWritten(): void {
    this.#form = "as written";
    this.#before = [];
    this.#settled = [];
    this.#tail = manyLines(this.#whole).join("\n");
    this.#whole = "";
  }

  #layOut(): void {
    if (!this.#isDue || this.#isBlank) return;
    this.#isDue = false;
    if (this.#form === "markdown") return this.#layOutMarkdown();
    // The last line is all that more text can change, and breaking it again gives the same.
    const lines = wrap(this.#tail, this.#surface.width);
    for (const line of lines.slice(0, -1)) this.#settled.push(line);
    this.#tail = lines.at(-1) ?? "";
    this.#rest = [this.#tail];
  }

  #layOutMarkdown(): void {
    const tokens = tokensOf(this.#tail);
    const last = tokens.findLastIndex(({ type }) => type !== "space");
    const place = tokens.slice(0, Math.max(0, last)).reduce((sum, { raw }) => sum + raw.length, 0);
    // A block has ended once the next one is recognised by its first two lines.
    if (place > 0 && wholeLines.test(this.#tail.slice(place))) {
      for (const line of blocks(tokens.slice(0, last), this.#surface, 0, this.#isBehind))
        this.#settled.push(line);
      this.#tail = this.#tail.slice(place);
      this.#rest = blocks(tokens.slice(last), this.#surface, 0, this.#isBehind);
    } else if (tokens.length > 0) this.#rest = blocks(tokens, this.#surface, 0, this.#isBehind);
    else this.#rest = renderMarkdown(this.#tail, this.#surface);
  }

  get #isBehind(): boolean {
    return this.#before.length + this.#settled.length > 0;
  }
}

/** Returns the blocks of a text; none if they are nested too deeply, or are not all of it. */
function tokensOf(text: string): readonly Token[] {
  try {
    const tokens: readonly Token[] = marked.lexer(text);
    return tokens.map(({ raw }) => raw).join("") === text ? tokens : [];
  } catch {
    return [];
  }
}
