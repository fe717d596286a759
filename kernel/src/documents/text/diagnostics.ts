import { codes, type DiagnosticCode, type Severity } from "./codes.ts";

/** Zero-based; `character` counts UTF-16 units, as in LSP. */
export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface Range {
  readonly start: Position;
  readonly end: Position;
}

export interface TextEdit {
  readonly range: Range;
  readonly newText: string;
}

export interface Fix {
  readonly title: string;
  readonly edits: readonly TextEdit[];
  /** What is almost certainly meant: an editor may do it at one keystroke. */
  readonly isPreferred?: boolean;
}

/** A fault in a document: where, what is wrong, what would be right. */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  readonly range: Range;
  readonly message: string;
  /** Each of them mends the fault, the likeliest first. */
  readonly fixes: readonly Fix[];
}

/** More faults than this in one document are not reported: the first ones have to be mended anyway. */
export const maxDiagnostics = 100;

/** The code's severity is the catalogue's. */
export function diagnostic(
  code: DiagnosticCode,
  range: Range,
  message: string,
  /** Null: a fix that was thought of and is not possible here. */
  fixes: readonly (Fix | null)[] = [],
): Diagnostic {
  const { severity } = codes[code];
  return { code, severity, range, message, fixes: fixes.filter((fix) => fix !== null) };
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === "error");
}

/**
 * Returns the diagnostics in the order of the text. Of more than {@link maxDiagnostics}, errors are kept before warnings,
 * and the first says that there are more.
 */
export function inOrder(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const kept =
    diagnostics.length <= maxDiagnostics
      ? diagnostics
      : [
          moreFaults,
          ...[
            ...diagnostics.filter(({ severity }) => severity === "error"),
            ...diagnostics.filter(({ severity }) => severity !== "error"),
          ].slice(0, maxDiagnostics - 1),
        ];
  return kept.toSorted(
    (one, other) =>
      one.range.start.line - other.range.start.line ||
      one.range.start.character - other.range.start.character,
  );
}

const start: Position = { line: 0, character: 0 };

const moreFaults = diagnostic(
  "more-faults",
  { start, end: start },
  `The document has more than ${maxDiagnostics} faults. Only the first ${maxDiagnostics - 1} are shown.`,
);

/** Turns offsets into positions. As in LSP, a carriage return that stands alone ends a line too. */
export class Lines {
  readonly #starts: number[] = [0];
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
    const ends = /\r(?!\n)/.test(text) ? text.replace(/\r(?!\n)/g, "\n") : text;
    for (let at = ends.indexOf("\n"); at >= 0; at = ends.indexOf("\n", at + 1)) this.#starts.push(at + 1);
  }

  /** Of an offset within a line's end, where that begins. */
  position(offset: number): Position {
    const bounded = this.#beforeEnd(Math.max(0, Math.min(offset, this.#text.length)));
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#starts[middle] ?? 0) <= bounded) low = middle;
      else high = middle - 1;
    }
    return { line: low, character: bounded - (this.#starts[low] ?? 0) };
  }

  /** Of a position beyond a line's end, the line's end; beyond the last line, the text's. */
  offset({ line, character }: Position): number {
    if (line < 0) return 0;
    const start = this.#starts[line];
    if (start === undefined) return this.#text.length;
    const next = this.#starts[line + 1];
    const end = next === undefined ? this.#text.length : this.#beforeEnd(next - 1);
    return Math.max(start, Math.min(start + character, end));
  }

  #beforeEnd(offset: number): number {
    return this.#text[offset] === "\n" && this.#text[offset - 1] === "\r" ? offset - 1 : offset;
  }

  range(start: number, end: number): Range {
    return { start: this.position(start), end: this.position(Math.max(start, end)) };
  }
}
