import {
  applyChanges,
  type ContentChange,
  maxChangeWork,
  type PositionEncoding,
} from "../../base/text-positions.ts";

/** A client's open documents are kept up to this size each; beyond it only whether one was changed is known. */
export const maxOpenDocumentCharacters = 4 * 1024 * 1024;
/** The same for all of a client's documents together. */
export const maxOpenCharacters = 64 * 1024 * 1024;
/** Open documents remembered per client. */
const maxOpenDocuments = 10_000;
/** No editor has a document with a longer one, and each is remembered. */
const maxUriCharacters = 8 * 1024;

interface OpenDocument {
  /** The client's own count of changes; null where it said none. */
  version: number | null;
  /** Null where it is not kept, or its changes were too many to follow; then `isChanged` says what is known of it. */
  text: string | null;
  /** The text when it was last saved: the file's, as far as that is known. Null where the text is. */
  saved: string | null;
  wasSaved: boolean;
  /** Of a document whose text is not kept: it is not what is saved. */
  isChanged: boolean;
}

/** What one client has open, followed change by change, so that nothing is written under unsaved work. */
export class OpenDocuments {
  readonly #documents = new Map<string, OpenDocument>();
  readonly #encoding: PositionEncoding;
  readonly #comparing = new Set<Promise<void>>();
  /** That all of them keep. */
  #characters = 0;

  constructor(encoding: PositionEncoding = "utf-16") {
    this.#encoding = encoding;
  }

  /**
   * `onDisk` is the file's text, read meanwhile, null where it cannot be compared. It may differ from the start:
   * an editor brings back what was not saved, and so does a session that goes on under the next kernel.
   */
  open(uri: string, text: string, onDisk: Promise<string | null>, version: number | null = null): void {
    this.close(uri);
    if (this.#documents.size >= maxOpenDocuments || uri.length > maxUriCharacters) return;
    const document: OpenDocument = { version, text, saved: text, wasSaved: false, isChanged: false };
    this.#documents.set(uri, document);
    this.#characters += charactersOf(document);
    this.#bound(document);
    const comparing = onDisk
      .then((saved) => {
        // Editors may unify line ends as they open a file; that alone is no change.
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
   * Resolves when every document that was opened has been compared with its file; with `textOnDisk`, those that
   * look unsaved once more: an editor that takes in what somebody else wrote, an action of ours among them, tells
   * of a change and of no save.
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

  /** The version the text is of; null where it is not open, or the client does not count. */
  version(uri: string): number | null {
    return this.#documents.get(uri)?.version ?? null;
  }

  uris(): Iterable<string> {
    return this.#documents.keys();
  }

  /** The documents whose text is not what is saved. */
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

  /** Lets go of the text of a document that is too large, or that is one too many: all it then has is a mark. */
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

/** What it keeps; text and saved are mostly one and the same. */
function charactersOf({ text, saved }: OpenDocument): number {
  return (text?.length ?? 0) + (saved === text ? 0 : (saved?.length ?? 0));
}

/** Two texts that differ in their line ends at most. Looks for those only where they can make a difference. */
function isSameText(one: string, other: string): boolean {
  if (one === other) return true;
  if (!one.includes("\r") && !other.includes("\r")) return false;
  return withPlainLineEnds(one) === withPlainLineEnds(other);
}

function withPlainLineEnds(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}
