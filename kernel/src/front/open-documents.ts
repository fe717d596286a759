import { maxOpenDocuments } from "../base/vocabulary/bounds.ts";
import { isJsonObject } from "../base/json.ts";
import {
  applyChanges,
  type ContentChange,
  contentChangesOf,
  type PositionEncoding,
} from "../base/text-positions.ts";
import type { NotificationMessage } from "../protocol/messages.ts";

interface OpenDocument {
  readonly uri: string;
  readonly languageId: unknown;
  version: unknown;
  text: string;
  /**
   * Changes not yet applied to `text`: they are applied only when a kernel needs the text, which keeps edits cheap.
   */
  pending: ContentChange[];
  pendingCharacters: number;
  /** True once a kernel was given the document: the next one is told that it continues. */
  wasGiven: boolean;
  /** The text as it was opened, if it was changed before the first kernel was given it. */
  base: { readonly text: string; readonly version: unknown } | null;
}

/** Maximum characters of all open documents together; a document that exceeds it is not kept. */
const maxOpenCharacters = 256 * 1024 * 1024;
/** Maximum number of changes, and of characters in them, that wait before they are applied to the text. */
const maxPendingChanges = 500;
const maxPendingCharacters = 1024 * 1024;

/** The client's open documents, in the form that the next kernel needs. */
export class OpenDocuments {
  readonly #documents = new Map<string, OpenDocument>();
  readonly #encoding: PositionEncoding;
  #isConnected = false;

  constructor(encoding: PositionEncoding) {
    this.#encoding = encoding;
  }

  /** Records a `textDocument/didOpen`, `didChange` or `didClose`. */
  record(method: string, params: unknown): void {
    const document =
      isJsonObject(params) && isJsonObject(params["textDocument"]) ? params["textDocument"] : null;
    const uri = document?.["uri"];
    if (!document || typeof uri !== "string") return;
    if (method === "textDocument/didOpen") this.#open(uri, document);
    else if (method === "textDocument/didClose") this.#documents.delete(uri);
    else if (isJsonObject(params)) this.#change(uri, document["version"], contentChangesOf(params));
  }

  /**
   * Returns the notifications that give all documents to a kernel, which gets later changes itself. A kernel has to know what
   * was in a document and what a person typed: for a document that no kernel had, a `textDocument/didOpen` as the client
   * opened it, and a `didChange` if it was changed since; for the others, the text as it is now, as `continued`.
   */
  replay(): NotificationMessage[] {
    this.#isConnected = true;
    return [...this.#documents.values()].flatMap((document) => {
      this.#fold(document);
      const { uri, languageId, version, text, base, wasGiven } = document;
      document.base = null;
      document.wasGiven = true;
      const opened = notification("textDocument/didOpen", {
        textDocument: { uri, languageId, version: base?.version ?? version, text: base?.text ?? text },
        ...(wasGiven ? { continued: true } : {}),
      });
      if (base === null || base.text === text) return [opened];
      const textDocument = { uri, version };
      return [opened, notification("textDocument/didChange", { textDocument, contentChanges: [{ text }] })];
    });
  }

  /** Called when the kernel that had the documents has ended. */
  kernelLost(): void {
    this.#isConnected = false;
  }

  #open(uri: string, document: Record<string, unknown>): void {
    const { text } = document;
    this.#documents.delete(uri);
    if (typeof text !== "string" || this.#documents.size >= maxOpenDocuments) return;
    if (this.#characters() + text.length > maxOpenCharacters) return;
    this.#documents.set(uri, {
      uri,
      languageId: document["languageId"],
      version: document["version"],
      text,
      pending: [],
      pendingCharacters: 0,
      wasGiven: this.#isConnected,
      base: null,
    });
  }

  #change(uri: string, version: unknown, changes: readonly ContentChange[] | null): void {
    const document = this.#documents.get(uri);
    if (document === undefined || changes === null) return;
    if (!document.wasGiven && document.base === null) {
      this.#fold(document);
      if (this.#characters() + document.text.length <= maxOpenCharacters)
        document.base = { text: document.text, version: document.version };
    }
    document.version = version;
    for (const change of changes) {
      document.pending.push(change);
      document.pendingCharacters += change.text.length;
    }
    if (document.pending.length > maxPendingChanges || document.pendingCharacters > maxPendingCharacters)
      this.#fold(document);
    if (document.text.length > maxOpenCharacters) this.#documents.delete(uri);
  }

  #characters(): number {
    let sum = 0;
    for (const { text, pendingCharacters, base } of this.#documents.values())
      sum += text.length + pendingCharacters + (base?.text.length ?? 0);
    return sum;
  }

  #fold(document: OpenDocument): void {
    // Not bounded in time: a client that sends very many changes delays only its own front.
    document.text = applyChanges(document.text, document.pending, this.#encoding) ?? document.text;
    document.pending = [];
    document.pendingCharacters = 0;
  }
}

function notification(method: string, params: object): NotificationMessage {
  return { jsonrpc: "2.0", method, params };
}
