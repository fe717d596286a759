/** A client's open documents are kept up to this size each; beyond it a document counts as unsaved as a whole. */
export const maxOpenDocumentCharacters = 4 * 1024 * 1024;
/** Open documents remembered per client. */
export const maxOpenDocuments = 2_000;

interface OpenDocument {
  text: string | null;
  /** The text when it was opened or last saved. */
  saved: string | null;
}

export interface ContentChange {
  readonly range?: { readonly start: Position; readonly end: Position };
  readonly text: string;
}

interface Position {
  readonly line: number;
  readonly character: number;
}

/** What one client has open, followed change by change, so that nothing is written under unsaved work. */
export class OpenDocuments {
  readonly #documents = new Map<string, OpenDocument>();

  open(uri: string, text: string): void {
    if (this.#documents.size >= maxOpenDocuments) return;
    const kept = text.length > maxOpenDocumentCharacters ? null : text;
    this.#documents.set(uri, { text: kept, saved: kept });
  }

  change(uri: string, changes: readonly ContentChange[]): void {
    const document = this.#documents.get(uri);
    if (document === undefined) return;
    for (const change of changes) {
      if (change.range === undefined) document.text = change.text;
      else if (document.text !== null) document.text = replaceRange(document.text, change.range, change.text);
      else document.saved = ""; // Too large to follow: it was changed, that is what counts.
    }
    if (document.text !== null && document.text.length > maxOpenDocumentCharacters) {
      document.text = null;
      document.saved = "";
    }
  }

  save(uri: string): void {
    const document = this.#documents.get(uri);
    if (document !== undefined) document.saved = document.text;
  }

  close(uri: string): void {
    this.#documents.delete(uri);
  }

  text(uri: string): string | null {
    return this.#documents.get(uri)?.text ?? null;
  }

  uris(): string[] {
    return [...this.#documents.keys()];
  }

  isUnsaved(uri: string): boolean {
    const document = this.#documents.get(uri);
    return document !== undefined && document.text !== document.saved;
  }
}

function replaceRange(text: string, range: { start: Position; end: Position }, replacement: string): string {
  return text.slice(0, offsetOf(text, range.start)) + replacement + text.slice(offsetOf(text, range.end));
}

/** LSP positions count UTF-16 code units, as JavaScript's strings do. */
function offsetOf(text: string, { line, character }: Position): number {
  let start = 0;
  for (let count = 0; count < line; count++) {
    const end = lineEnd(text, start);
    if (end === -1) return text.length;
    start = end;
  }
  const next = lineEnd(text, start);
  return Math.min(start + character, next === -1 ? text.length : next);
}

/** Where the line after the one at `start` begins; -1 where there is none. */
function lineEnd(text: string, start: number): number {
  const newline = /\r\n|\n|\r/g;
  newline.lastIndex = start;
  const match = newline.exec(text);
  return match === null ? -1 : match.index + match[0].length;
}
