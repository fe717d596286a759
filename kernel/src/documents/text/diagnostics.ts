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
  /** A fix that is almost certainly intended; an editor may apply it with one keystroke. */
  readonly isPreferred?: boolean;
}

/** An error in a document: its place, what is wrong, and what would be right. */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  readonly range: Range;
  readonly message: string;
  /** Alternative fixes, the most likely first. */
  readonly fixes: readonly Fix[];
}

/** Maximum number of diagnostics reported for one document. */
export const maxDiagnostics = 100;

/** Creates a diagnostic with the severity that the catalogue has for its code. */
export function diagnostic(
  code: DiagnosticCode,
  range: Range,
  message: string,
  /** Null stands for a fix that is not possible here. */
  fixes: readonly (Fix | null)[] = [],
): Diagnostic {
  const { severity } = codes[code];
  return { code, severity, range, message, fixes: fixes.filter((fix) => fix !== null) };
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === "error");
}

/**
 * Returns the diagnostics in text order. If there are more than {@link maxDiagnostics}, errors take precedence
 * over warnings, and the first diagnostic says that there are more.
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

/** Converts offsets into positions. As in LSP, a lone carriage return also ends a line. */
export class Lines {
  readonly #starts: number[] = [0];
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
    const ends = /\r(?!\n)/.test(text) ? text.replace(/\r(?!\n)/g, "\n") : text;
    for (let at = ends.indexOf("\n"); at >= 0; at = ends.indexOf("\n", at + 1)) this.#starts.push(at + 1);
  }

  /** Returns the start of the line break for an offset within one. */
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

  /** Returns the line's end for a position beyond it, and the text's end for a position beyond the last line. */
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
