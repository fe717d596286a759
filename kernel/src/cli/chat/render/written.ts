import { unfinished } from "../../../base/turn-ends.ts";
import type { Ending } from "../state/items.ts";
import type { Logged, Message, Streamed } from "../state/transcript.ts";
import { isCalling, writtenIn } from "../state/messages.ts";
import { oneLine } from "../../render/foreign.ts";
import { GrowingText } from "../../render/growing-text.ts";
import { chained, DrawnLines, type Lines } from "../../render/lines.ts";
import type { Surface } from "../../render/style.ts";
import { truncate, wrap } from "../../render/width.ts";

/** More of a thought does not fit on its line. */
const maxThoughtHead = 1_000;

/** A text or a thought of a message that is being written. */
interface Section {
  readonly type: "text" | "reasoning";
  add(text: string): void;
  readonly lines: Lines;
  continued(): Section;
}

const layouts = new WeakMap<object, WrittenLines>();

/**
 * Returns the lines of a message that is being written. It changes with each frame, and only at its end.
 */
export function writtenLines(message: Message, isOpen: boolean, surface: Surface, ending: Ending): Lines {
  let known = layouts.get(message.logged.origin);
  if (known === undefined || !known.isFor(surface, isOpen)) {
    known = new WrittenLines(surface, isOpen);
    layouts.set(message.logged.origin, known);
  }
  return known.of(message, ending);
}

/** The lines of a message that is being written: what was laid out for the frame before stays. */
class WrittenLines {
  readonly #surface: Surface;
  readonly #isOpen: boolean;
  #logged: Sections;
  #loggedCount = 0;
  /** The same with what has streamed since the last entry. */
  #streamed: Sections;
  #streamedCount = 0;
  #streamedOrigin: object | null = null;
  #last: { readonly message: Message; readonly ending: Ending; readonly lines: Lines } | null = null;

  constructor(surface: Surface, isOpen: boolean) {
    this.#surface = surface;
    this.#isOpen = isOpen;
    this.#logged = new Sections(surface, isOpen);
    this.#streamed = this.#logged;
  }

  isFor({ style, width }: Surface, isOpen: boolean): boolean {
    return this.#surface.style === style && this.#surface.width === width && this.#isOpen === isOpen;
  }

  of(message: Message, ending: Ending): Lines {
    if (this.#last?.message === message && this.#last.ending === ending) return this.#last.lines;
    this.#takeLogged(message.logged);
    this.#takeStreamed(message.streamed);
    const words = footWords(message, ending);
    const foot = words === "" ? [] : wrap(words, this.#surface.width).map(this.#surface.style.dim);
    const lines = chained([this.#streamed.lines, foot]);
    this.#last = { message, ending, lines };
    return lines;
  }

  #takeLogged(logged: Message["logged"]): void {
    if (logged.length < this.#loggedCount) {
      this.#logged = new Sections(this.#surface, this.#isOpen);
      this.#loggedCount = 0;
    } else if (logged.length === this.#loggedCount) return;
    const added: readonly Logged[] = logged.from(this.#loggedCount);
    for (const { type, text } of added.flatMap(writtenIn)) this.#logged.add(type, text);
    this.#loggedCount = logged.length;
    this.#streamedOrigin = null;
  }

  #takeStreamed(streamed: Message["streamed"]): void {
    if (streamed.origin !== this.#streamedOrigin || streamed.length < this.#streamedCount) {
      this.#streamed = this.#logged.continued();
      this.#streamedOrigin = streamed.origin;
      this.#streamedCount = 0;
    }
    const added: readonly Streamed[] = streamed.from(this.#streamedCount);
    for (const { type, text } of added) if (type !== "tool_call") this.#streamed.add(type, text);
    this.#streamedCount = streamed.length;
  }
}

/** Returns the words below a message's text. */
function footWords(message: Message, ending: Ending): string {
  switch (ending) {
    case "more":
      return isCalling(message) ? "… prepares a call" : "…";
    case "unfinished":
      return unfinished;
    case "none":
      return "";
  }
}

/** Texts and thoughts, one after the other. Only the last one grows. */
class Sections {
  readonly #surface: Surface;
  readonly #isOpen: boolean;
  #before: Lines = [];
  readonly #ended: string[] = [];
  #last: Section | null = null;

  constructor(surface: Surface, isOpen: boolean) {
    this.#surface = surface;
    this.#isOpen = isOpen;
  }

  add(type: Section["type"], text: string): void {
    if (this.#last?.type !== type) {
      this.#end();
      this.#last = sectionOf(type, this.#isOpen, this.#surface);
    }
    this.#last.add(text);
  }

  get lines(): Lines {
    return chained([this.#before, this.#ended, ...this.#lastLines()]);
  }

  /** Returns sections that continue these, which stay as they are. */
  continued(): Sections {
    const next = new Sections(this.#surface, this.#isOpen);
    next.#before = chained([this.#before, this.#ended]);
    next.#last = this.#last?.continued() ?? null;
    return next;
  }

  #end(): void {
    for (const lines of this.#lastLines())
      for (const line of lines.slice(0, lines.length)) this.#ended.push(line);
  }

  #lastLines(): Lines[] {
    if (this.#last === null) return [];
    const { type, lines } = this.#last;
    const isApart = type === "text" && lines.length > 0 && this.#before.length + this.#ended.length > 0;
    return isApart ? [[""], lines] : [lines];
  }
}

function sectionOf(type: Section["type"], isOpen: boolean, surface: Surface): Section {
  if (type === "text") return new SaidText(new GrowingText(inner(surface), "markdown"), surface);
  if (!isOpen) return new ClosedThought(surface);
  return new OpenThought(new GrowingText(inner(surface), "as written"), surface);
}

class SaidText implements Section {
  readonly type = "text";
  readonly #text: GrowingText;
  readonly #surface: Surface;

  constructor(text: GrowingText, surface: Surface) {
    this.#text = text;
    this.#surface = surface;
  }

  add(text: string): void {
    this.#text.add(text);
  }

  get lines(): Lines {
    const bar = this.#surface.style.dim("┆");
    return new DrawnLines(this.#text.lines, (line) => (line === "" ? bar : `${bar} ${line}`));
  }

  continued(): SaidText {
    return new SaidText(this.#text.continued(), this.#surface);
  }
}

/** A thought without the white space around it. */
class OpenThought implements Section {
  readonly type = "reasoning";
  readonly #text: GrowingText;
  readonly #surface: Surface;
  #isBlank: boolean;
  #space: string;

  constructor(text: GrowingText, surface: Surface, isBlank = true, space = "") {
    this.#text = text;
    this.#surface = surface;
    this.#isBlank = isBlank;
    this.#space = space;
  }

  add(text: string): void {
    const words = this.#isBlank ? text.trim() : text.trimEnd();
    if (words !== "") {
      this.#text.add(this.#isBlank ? words : this.#space + words);
      this.#isBlank = false;
      this.#space = text.slice(text.trimEnd().length);
    } else if (!this.#isBlank) this.#space += text;
  }

  get lines(): Lines {
    if (this.#isBlank) return [];
    const { style } = this.#surface;
    return chained([
      [style.dim("▾ Thought:")],
      new DrawnLines(this.#text.lines, (line) => style.dim(`┆ ${line}`)),
    ]);
  }

  continued(): OpenThought {
    return new OpenThought(this.#text.continued(), this.#surface, this.#isBlank, this.#space);
  }
}

class ClosedThought implements Section {
  readonly type = "reasoning";
  readonly #surface: Surface;
  #head: string;

  constructor(surface: Surface, head = "") {
    this.#surface = surface;
    this.#head = head;
  }

  add(text: string): void {
    if (this.#head.length < maxThoughtHead)
      this.#head = (this.#head + text.slice(0, maxThoughtHead)).trimStart();
  }

  get lines(): Lines {
    const { style, width } = this.#surface;
    return this.#head === "" ? [] : [style.dim(truncate(`▸ Thought: ${oneLine(this.#head)}`, width))];
  }

  continued(): ClosedThought {
    return new ClosedThought(this.#surface, this.#head);
  }
}

function inner(surface: Surface): Surface {
  return { ...surface, width: surface.width - 2 };
}
