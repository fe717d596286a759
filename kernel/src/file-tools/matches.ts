import { fileToolBounds as bounds } from "./bounds.ts";

/** A line that holds the text. */
interface LineMatch {
  readonly line: number;
  /** Without its line end; cut around the match if it is long. */
  readonly text: string;
}

/** Finds a text in the lines of a file that is read piece by piece. A line is found once. */
export class LineMatcher {
  readonly #wanted: string;
  readonly #ignoresCase: boolean;
  /** The number of the line that `#open` is a part of. */
  #line = 1;
  /** Text of a line whose end was not read yet. */
  #open = "";
  #lastMatch = 0;

  /** Compares without regard to case unless the text has a capital letter. */
  constructor(text: string) {
    this.#ignoresCase = text === text.toLowerCase();
    this.#wanted = text;
  }

  /** Returns the matches that this piece completes. */
  take(piece: string, isLast: boolean): LineMatch[] {
    const text = this.#open + piece;
    const end = isLast ? text.length : this.#endOf(text);
    const found = this.#matchesIn(text.slice(0, end));
    this.#open = text.slice(end);
    return found;
  }

  /** Returns where to stop: after the last whole line, or in a very long one so that no match is missed. */
  #endOf(text: string): number {
    const end = text.lastIndexOf("\n") + 1;
    if (text.length - end <= bounds.openLineCharacters) return end;
    return Math.max(end, text.length - this.#wanted.length + 1);
  }

  #matchesIn(text: string): LineMatch[] {
    const found: LineMatch[] = [];
    const compared = this.#ignoresCase ? text.toLowerCase() : text;
    // A letter may become two in lower case. Places then differ, and the line is shown in lower case.
    const hasSamePlaces = compared.length === text.length;
    let counted = 0;
    for (let from = 0; ;) {
      const at = compared.indexOf(this.#wanted, from);
      if (at === -1) break;
      this.#line += countFeeds(compared, counted, at);
      counted = at;
      const [start, end] = lineAround(compared, at);
      if (this.#line !== this.#lastMatch) {
        const line = hasSamePlaces ? text.slice(start, end) : compared.slice(start, end);
        found.push({ line: this.#line, text: excerpt(line, at - start, this.#wanted.length) });
        this.#lastMatch = this.#line;
      }
      from = end;
    }
    this.#line += countFeeds(compared, counted, compared.length);
    return found;
  }
}

function countFeeds(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

function lineAround(text: string, at: number): [start: number, end: number] {
  const feed = text.indexOf("\n", at);
  // Not `at - 1`: lastIndexOf takes a negative start for 0.
  return [at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1, feed === -1 ? text.length : feed];
}

function excerpt(line: string, at: number, length: number): string {
  const whole = line.endsWith("\r") ? line.slice(0, -1) : line;
  if (whole.length <= bounds.lineCharacters) return whole;
  const before = Math.max(0, Math.floor((bounds.lineCharacters - length) / 2));
  const start = Math.max(0, Math.min(at - before, whole.length - bounds.lineCharacters));
  const end = Math.min(whole.length, start + bounds.lineCharacters);
  const part = whole.slice(start, end).toWellFormed();
  return `${start > 0 ? "…" : ""}${part}${end < whole.length ? "…" : ""}`;
}
