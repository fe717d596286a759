import { displayWidth } from "./width.ts";

export type Paint = (text: string) => string;

/** A piece of a text that is drawn in one way; a line feed in it ends the line. */
export interface Span {
  readonly text: string;
  readonly paint: Paint;
}

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

interface Atom extends Span {
  readonly columns: number;
}

/** Breaks spans into lines of at most `width` columns, at spaces if there are any. Words may consist of several spans. */
export function fillSpans(spans: readonly Span[], width: number): string[] {
  const lines: Atom[][] = [[]];
  let used = 0;
  let word: Atom[] = [];
  let blank: Atom | null = null;
  const endWord = (): void => {
    if (word.length === 0) return;
    const columns = word.reduce((sum, atom) => sum + atom.columns, 0);
    const gap = blank === null || used === 0 ? 0 : blank.columns;
    if (used > 0 && used + gap + columns > width) {
      lines.push([]);
      used = 0;
    } else if (gap > 0 && blank !== null) {
      lines.at(-1)?.push(blank);
      used += gap;
    }
    for (const atom of word.flatMap((each) => (columns > width ? graphemesOf(each) : [each]))) {
      if (used + atom.columns > width && used > 0) {
        lines.push([]);
        used = 0;
      }
      lines.at(-1)?.push(atom);
      used += atom.columns;
    }
    word = [];
    blank = null;
  };
  for (const { text, paint } of spans)
    for (const piece of text.split(/( +|\n)/)) {
      if (piece === "") continue;
      if (piece === "\n") {
        endWord();
        lines.push([]);
        used = 0;
        blank = null;
      } else if (piece.startsWith(" ")) {
        endWord();
        blank = { text: " ", paint, columns: 1 };
      } else word.push({ text: piece, paint, columns: displayWidth(piece) });
    }
  endWord();
  return lines.map(drawn);
}

function graphemesOf({ text, paint }: Atom): Atom[] {
  return Array.from(graphemes.segment(text), ({ segment }) => ({
    text: segment,
    paint,
    columns: displayWidth(segment),
  }));
}

/** Draws neighbours of one kind together. */
function drawn(atoms: readonly Atom[]): string {
  let line = "";
  for (let index = 0; index < atoms.length;) {
    const { paint } = atoms[index]!;
    let text = "";
    for (; index < atoms.length && atoms[index]!.paint === paint; index++) text += atoms[index]!.text;
    line += paint(text);
  }
  return line;
}

/** Breaks a line where the width ends, as code is not broken at spaces. */
export function hardWrap(line: string, width: number): string[] {
  if (displayWidth(line) <= width) return [line];
  const lines: string[] = [];
  let current = "";
  let used = 0;
  for (const { segment } of graphemes.segment(line)) {
    const columns = displayWidth(segment);
    if (used + columns > width && used > 0) {
      lines.push(current);
      current = "";
      used = 0;
    }
    current += segment;
    used += columns;
  }
  lines.push(current);
  return lines;
}
