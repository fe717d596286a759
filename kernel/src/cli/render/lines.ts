/** Lines of a text, of which only those that are visible are looked at. */
export interface Lines {
  readonly length: number;
  slice(from: number, to: number): readonly string[];
}

interface Piece {
  readonly lines: Lines;
  /** The number of its lines that count; more may have been added since. */
  readonly length: number;
}

export function chained(pieces: readonly Lines[]): Lines {
  return new ChainedLines(pieces.map((lines) => ({ lines, length: lines.length })));
}

/** Several lists of lines, one after the other. */
class ChainedLines implements Lines {
  readonly length: number;
  readonly #pieces: readonly Piece[];

  constructor(pieces: readonly Piece[]) {
    this.#pieces = pieces;
    this.length = pieces.reduce((sum, { length }) => sum + length, 0);
  }

  slice(from: number, to: number): readonly string[] {
    const found: string[] = [];
    let start = 0;
    for (const { lines, length } of this.#pieces) {
      const [first, end] = [Math.max(0, from - start), Math.min(length, to - start)];
      if (first < end) for (const line of lines.slice(first, end)) found.push(line);
      start += length;
    }
    return found;
  }
}

/** Lines that are drawn when they are looked at. */
export class DrawnLines implements Lines {
  readonly length: number;
  readonly #lines: Lines;
  readonly #draw: (line: string) => string;

  constructor(lines: Lines, draw: (line: string) => string) {
    this.length = lines.length;
    this.#lines = lines;
    this.#draw = draw;
  }

  slice(from: number, to: number): readonly string[] {
    return this.#lines.slice(from, Math.min(to, this.length)).map(this.#draw);
  }
}
