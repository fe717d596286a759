import { maxOpenDocuments } from "../../base/vocabulary/bounds.ts";
import {
  applyChanges,
  type ContentChange,
  maxChangeWork,
  type PositionEncoding,
} from "../../base/text-positions.ts";

/** Maximum size of a document whose text is kept; for a larger one, only a flag says whether it was changed. */
export const maxOpenDocumentCharacters = 4 * 1024 * 1024;
/** Maximum size of all kept texts of a client together. */
export const maxOpenCharacters = 64 * 1024 * 1024;
/** Every URI is kept, and no editor uses longer ones. */
const maxUriCharacters = 8 * 1024;

interface OpenDocument {
  /** The version that the client gave; null if it gave none. */
  version: number | null;
  /** A kernel before this one had it open: its text is that of this session, and not of its file. */
  readonly isContinued: boolean;
  /** Null if the text is not kept, or its changes were too expensive to apply; then `isChanged` applies. */
  text: string | null;
  /** The text when it was last saved, as far as it is known; null if `text` is null. */
  saved: string | null;
  wasSaved: boolean;
  /** For a document whose text is not kept: true if it has unsaved changes. */
  isChanged: boolean;
}

/** Tracks the open documents of one client, so that no action overwrites unsaved work. */
export class OpenDocuments {
  readonly #documents = new Map<string, OpenDocument>();
  readonly #encoding: PositionEncoding;
  readonly #comparing = new Set<Promise<void>>();
  /** The total size of all kept texts. */
  #characters = 0;

  constructor(encoding: PositionEncoding = "utf-16") {
    this.#encoding = encoding;
  }

  /**
   * `onDisk` resolves with the file's text, or null if it cannot be compared. The two may differ from the start: an
   * editor restores unsaved changes, and a session may continue under the next kernel.
   */
  open(
    uri: string,
    text: string,
    onDisk: Promise<string | null>,
    { version = null, isContinued = false }: { version?: number | null; isContinued?: boolean } = {},
  ): void {
    this.close(uri);
    if (this.#documents.size >= maxOpenDocuments || uri.length > maxUriCharacters) return;
    const document: OpenDocument = {
      version,
      isContinued,
      text,
      saved: text,
      wasSaved: false,
      isChanged: false,
    };
    this.#documents.set(uri, document);
    this.#characters += charactersOf(document);
    this.#bound(document);
    const comparing = onDisk
      .then((saved) => {
        // An editor may normalize line endings when it opens a file; that is not a change.
        if (saved === null || document.wasSaved || isSameText(saved, text)) return;
        if (this.#documents.get(uri) === document)
          this.#update(document, () => {
            if (document.text === null) document.isChanged = true;
            else document.saved = saved;
          });
      })
      .finally(() => this.#comparing.delete(comparing));
    this.#comparing.add(comparing);
  }

  /**
   * Resolves once every opened document was compared with its file. With `textOnDisk`, documents that look unsaved
   * are compared again: an editor that reloads a changed file reports a change, but no save.
   */
  async compared(textOnDisk?: (uri: string) => Promise<string | null>): Promise<void> {
    await Promise.all(this.#comparing);
    if (textOnDisk === undefined) return;
    for (const uri of this.unsaved()) await this.#compareAgain(uri, textOnDisk);
  }

  async #compareAgain(uri: string, textOnDisk: (uri: string) => Promise<string | null>): Promise<void> {
    const document = this.#documents.get(uri);
    if (document === undefined || document.text === null) return;
    const { text } = document;
    const onDisk = await textOnDisk(uri);
    if (onDisk === null || !isSameText(onDisk, text)) return;
    if (this.#documents.get(uri) !== document || document.text !== text) return;
    this.#update(document, () => {
      document.saved = text;
    });
  }

  change(uri: string, changes: readonly ContentChange[], version: number | null = null): void {
    const document = this.#documents.get(uri);
    if (document === undefined) return;
    document.version = version;
    if (changes.length === 0) return;
    const whole = changes.findLastIndex(({ range }) => range === undefined || range === null);
    this.#update(document, () => {
      const before = document.text ?? (whole === -1 ? null : "");
      const after =
        before === null
          ? null
          : applyChanges(before, changes.slice(Math.max(0, whole)), this.#encoding, maxChangeWork);
      document.isChanged ||= after === null;
      document.text = after;
      if (after === null) document.saved = null;
    });
  }

  save(uri: string): void {
    const document = this.#documents.get(uri);
    if (document === undefined) return;
    this.#update(document, () => {
      document.saved = document.text;
      document.wasSaved = true;
      document.isChanged = false;
    });
  }

  close(uri: string): void {
    const document = this.#documents.get(uri);
    if (document === undefined) return;
    this.#characters -= charactersOf(document);
    this.#documents.delete(uri);
  }

  has(uri: string): boolean {
    return this.#documents.has(uri);
  }

  text(uri: string): string | null {
    return this.#documents.get(uri)?.text ?? null;
  }

  /** Returns the version of the text; null if the document is not open, or if the client gave none. */
  version(uri: string): number | null {
    return this.#documents.get(uri)?.version ?? null;
  }

  isContinued(uri: string): boolean {
    return this.#documents.get(uri)?.isContinued === true;
  }

  uris(): Iterable<string> {
    return this.#documents.keys();
  }

  /** Returns the documents with unsaved changes. */
  unsaved(): string[] {
    return [...this.#documents].flatMap(([uri, document]) => (isUnsaved(document) ? [uri] : []));
  }

  isUnsaved(uri: string): boolean {
    const document = this.#documents.get(uri);
    return document !== undefined && isUnsaved(document);
  }

  #update(document: OpenDocument, change: () => void): void {
    this.#characters -= charactersOf(document);
    change();
    this.#characters += charactersOf(document);
    this.#bound(document);
  }

  /** Drops the text of a document that is too large, or that exceeds the total; only its flag remains. */
  #bound(document: OpenDocument): void {
    const { text, saved } = document;
    if (text === null) return;
    if (text.length <= maxOpenDocumentCharacters && this.#characters <= maxOpenCharacters) return;
    this.#characters -= charactersOf(document);
    document.isChanged = text !== saved;
    document.text = null;
    document.saved = null;
  }
}

function isUnsaved({ text, saved, isChanged }: OpenDocument): boolean {
  return isChanged || text !== saved;
}

/** Returns the kept characters; `text` and `saved` are usually the same string. */
function charactersOf({ text, saved }: OpenDocument): number {
  return (text?.length ?? 0) + (saved === text ? 0 : (saved?.length ?? 0));
}

/** Returns true if two texts are equal apart from their line endings. */
function isSameText(one: string, other: string): boolean {
  if (one === other) return true;
  if (!one.includes("\r") && !other.includes("\r")) return false;
  return withPlainLineEnds(one) === withPlainLineEnds(other);
}

function withPlainLineEnds(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}
