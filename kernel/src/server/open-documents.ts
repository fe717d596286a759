/** A client's open documents are kept up to this size each; beyond it a document counts as unsaved as a whole. */
export const maxOpenDocumentCharacters = 4 * 1024 * 1024;
/** Open documents remembered per client. */
export const maxOpenDocuments = 2_000;

interface OpenDocument {
  text: string | null;
  /** The text when it was last saved: the file's, as far as that is known. */
  saved: string | null;
  wasSaved: boolean;
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
  readonly #comparing = new Set<Promise<void>>();

  /**
   * `onDisk` is the file's text, read meanwhile, null where it cannot be compared. It may differ from the start:
   * an editor brings back what was not saved, and so does a session that goes on under the next kernel.
   */
  open(uri: string, text: string, onDisk: Promise<string | null>): void {
    if (this.#documents.size >= maxOpenDocuments) return;
    const kept = text.length > maxOpenDocumentCharacters ? null : text;
    const document: OpenDocument = { text: kept, saved: kept, wasSaved: false };
    this.#documents.set(uri, document);
    if (kept === null) return;
    const comparing = onDisk
      .then((saved) => {
        // Editors may unify line ends as they open a file; that alone is no change.
        if (saved !== null && !document.wasSaved && withPlainLineEnds(saved) !== withPlainLineEnds(kept))
          document.saved = saved;
      })
      .finally(() => this.#comparing.delete(comparing));
    this.#comparing.add(comparing);
  }

  /** Resolves when every document that was opened has been compared with its file. */
  async compared(): Promise<void> {
    await Promise.all(this.#comparing);
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
    if (document === undefined) return;
    document.saved = document.text;
    document.wasSaved = true;
  }

  close(uri: string): void {
    this.#documents.delete(uri);
  }

  text(uri: string): string | null {
    return this.#documents.get(uri)?.text ?? null;
  }

  /** The documents whose text is not what is saved. */
  unsaved(): string[] {
    return [...this.#documents].flatMap(([uri, { text, saved }]) => (text === saved ? [] : [uri]));
  }
}

function withPlainLineEnds(text: string): string {
  return text.replace(/\r\n?/g, "\n");
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
