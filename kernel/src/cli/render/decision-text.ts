import {
  countedRun,
  endsLine,
  continuationMark,
  visibleAtoms,
  withVisibleBlank,
  type Atom,
} from "../../base/visible-text.ts";
import { displayWidth } from "./width.ts";

/** The minimum number of columns: a wide mark alone takes as many. */
const narrowest = 8;
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const ascii = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

interface DecisionOptions {
  readonly emphasis?: Emphasis | undefined;
  /** Show every character outside ASCII by its code, including the marks of Lares. */
  readonly isAscii?: boolean | undefined;
}

/** The parts of a text to highlight, by their offset, and how to draw them. */
export interface Emphasis {
  has(offset: number): boolean;
  draw(shown: string): string;
}

/**
 * Breaks a text on which a person bases a decision into lines of at most `width` columns that show every character of
 * it; see `visibleText` for the marks. A line is broken at a single blank, which the break then stands for, or after
 * the mark of a line feed. Without either, the line ends in `↩` and the word continues on the next line.
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

/** The same for a sentence of the kernel in which foreign names are visible already. */
export function visibleLines(
  sentence: string,
  width: number,
  options: Pick<DecisionOptions, "isAscii"> = {},
): string[] {
  // The minus sign of the line count at the end is the only character outside ASCII that Lares adds.
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

interface Piece extends Atom {
  readonly columns: number;
  /** The offset in the text; the pieces of a broken mark have the offset of the mark. */
  readonly offset: number;
  /** True if a new line may begin after it. */
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

/** Returns `<U+00E9>`, and `<U+0020 x160>` for a run of the same character. */
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
  /** The first piece that is not on the line, and the first one of the next line. */
  readonly end: number;
  readonly next: number;
  readonly mark: string;
}

function lineFrom(pieces: Piece[], start: number, room: number): LineEnd {
  let columns = 0;
  /** The place where the line can end with a mark, and the last blank at which it can be broken. */
  let hard = start + 1;
  let blank = 0;
  for (let index = start; index < pieces.length; index++) {
    const piece = pieces[index]!;
    if (index > start && isSingleBlank(pieces, index)) blank = index;
    columns += piece.columns;
    if (columns > room) {
      if (blank > 0) return { end: blank, next: blank + 1, mark: "" };
      showBlanksAround(pieces, hard);
      return { end: hard, next: hard, mark: continuationMark };
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

/** Makes blanks beside a break visible, because they could not be counted otherwise. */
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
