import {
  countedRun,
  endsLine,
  goesOn,
  readVisible,
  visibleAtoms,
  withVisibleBlank,
  type Atom,
} from "../../base/visible-text.ts";
import { displayWidth } from "./width.ts";

/** Columns below which nothing is laid out: a wide mark alone takes as many. */
const narrowest = 8;
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const ascii = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

export interface DecisionOptions {
  readonly emphasis?: Emphasis | undefined;
  /** Every character that is not ASCII, our own marks too, is shown by its code. */
  readonly isAscii?: boolean | undefined;
}

/** What of a text stands out: by where it begins in the text, and how it is drawn. */
export interface Emphasis {
  has(offset: number): boolean;
  draw(shown: string): string;
}

/**
 * A text on which a person decides, in lines of at most `width` columns that hold every character of it; see
 * `visibleText` for the marks. A line is broken where a single blank stands, which the break then is, and behind the mark
 * of a line feed; where there is neither, it ends in `↩` and the next one goes on with the same word.
 */
export function decisionLines(
  text: string,
  width: number,
  { emphasis, isAscii = false }: DecisionOptions = {},
): string[] {
  const room = Math.max(narrowest, width);
  if (
    emphasis === undefined &&
    text.length <= room &&
    ascii.test(text) &&
    !text.includes("<U+") &&
    !text.includes("   ")
  )
    return [text];
  return broken(visibleAtoms(text), room, { emphasis, isAscii });
}

/** The same for a sentence of the kernel's own, in which foreign names are visible already. */
export function visibleLines(
  sentence: string,
  width: number,
  options: Pick<DecisionOptions, "isAscii"> = {},
): string[] {
  // The minus sign that counts lines at the end is the only non-ASCII character that Lares adds.
  const text = options.isAscii === true ? sentence.replace(/ −(\d+\))$/, " -$1") : sentence;
  const atoms = Array.from(graphemes.segment(text), ({ segment }) => ({ shown: segment, source: segment }));
  return broken(atoms, Math.max(narrowest, width), options);
}

function broken(
  atoms: readonly Atom[],
  room: number,
  { emphasis, isAscii = false }: DecisionOptions,
): string[] {
  const lines: string[] = [];
  const pieces = piecesOf(atoms, room, isAscii);
  let start = 0;
  do {
    const { end, next, mark } = lineFrom(pieces, start, room);
    lines.push(drawn(pieces, start, end, emphasis) + mark);
    start = next;
  } while (start < pieces.length);
  return lines;
}

/** The text that `decisionLines` was given, where nothing was painted. */
export function readDecision(lines: readonly string[]): string {
  const shown = lines.map((line, index) => {
    if (index === lines.length - 1) return line;
    if (line.endsWith(goesOn)) return line.slice(0, -goesOn.length);
    return endsWithFeed.test(line) ? line : `${line} `;
  });
  return readVisible(shown.join(""));
}

const endsWithFeed = /(?:\u240a|<\u240a×\d+>)$/u;

interface Piece extends Atom {
  readonly columns: number;
  /** Where it begins in the text; what belongs to a mark that is broken has the mark's. */
  readonly offset: number;
  /** A new line may begin behind it. */
  readonly ends: boolean;
}

function piecesOf(atoms: readonly Atom[], room: number, isAscii: boolean): Piece[] {
  let offset = 0;
  return atoms.flatMap((visible) => {
    const start = offset;
    offset += visible.source.length;
    const ends = endsLine(visible);
    const atom = isAscii ? asciiAtom(visible) : visible;
    const columns = displayWidth(atom.shown);
    if (columns < room) return [{ ...atom, columns, offset: start, ends }];
    return Array.from(atom.shown, (shown) => ({
      shown,
      source: "",
      columns: displayWidth(shown),
      offset: start,
      ends: false,
    }));
  });
}

/** `<U+00E9>`, and `<U+0020 x160>` for many of the same. */
function asciiAtom(atom: Atom): Atom {
  if (printableAscii.test(atom.shown)) return atom;
  const characters = Array.from(atom.source);
  const [first = ""] = characters;
  const isRun = characters.length >= countedRun && characters.every((character) => character === first);
  const codes = (isRun ? [first] : characters).map(
    (character) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`,
  );
  return {
    ...atom,
    shown: isRun ? `<${codes.join("")} x${characters.length}>` : codes.map((code) => `<${code}>`).join(""),
  };
}

const printableAscii = /^[\x20-\x7e]*$/;

interface LineEnd {
  /** The first piece that is not in the line, and the one that the next line begins with. */
  readonly end: number;
  readonly next: number;
  readonly mark: string;
}

function lineFrom(pieces: Piece[], start: number, room: number): LineEnd {
  let columns = 0;
  /** Where the line may end with its mark, and the last blank that may be its end. */
  let hard = start + 1;
  let blank = 0;
  for (let index = start; index < pieces.length; index++) {
    const piece = pieces[index]!;
    if (index > start && isSingleBlank(pieces, index)) blank = index;
    columns += piece.columns;
    if (columns > room) {
      if (blank > 0) return { end: blank, next: blank + 1, mark: "" };
      showBlanksAround(pieces, hard);
      return { end: hard, next: hard, mark: goesOn };
    }
    if (columns < room) hard = index + 1;
    if (piece.ends) return { end: index + 1, next: index + 1, mark: "" };
  }
  return { end: pieces.length, next: pieces.length, mark: "" };
}

function isSingleBlank(pieces: readonly Piece[], index: number): boolean {
  const [before, here, after] = [pieces[index - 1], pieces[index], pieces[index + 1]];
  return here?.shown === " " && before?.source !== " " && after !== undefined && after.source !== " ";
}

/** Blanks on either side of a break within them could not be counted. */
function showBlanksAround(pieces: Piece[], end: number): void {
  const show = (index: number): void => {
    pieces[index] = { ...pieces[index]!, ...withVisibleBlank(pieces[index]!) };
  };
  for (let index = end - 1; pieces[index]?.shown === " "; index--) show(index);
  for (let index = end; pieces[index]?.shown === " "; index++) show(index);
}

function drawn(pieces: readonly Piece[], start: number, end: number, emphasis?: Emphasis): string {
  let line = "";
  for (let index = start; index < end;) {
    const isEmphasised = emphasis?.has(pieces[index]!.offset) === true;
    let part = "";
    for (; index < end && (emphasis?.has(pieces[index]!.offset) === true) === isEmphasised; index++)
      part += pieces[index]!.shown;
    line += isEmphasised && emphasis !== undefined ? emphasis.draw(part) : part;
  }
  return line;
}
