import { isJsonObject } from "../base/json.ts";
import type { NotificationMessage } from "../protocol/messages.ts";

interface OpenDocument {
  readonly uri: string;
  readonly languageId: unknown;
  version: unknown;
  text: string;
  /** Changes that were heard and not yet put into `text`: an edit costs nothing until a kernel needs the text. */
  pending: unknown[];
  pendingCharacters: number;
}

/** Together, the open documents hold at most so many characters; one that goes beyond is not kept. */
export const maxOpenCharacters = 256 * 1024 * 1024;
const maxOpenDocuments = 10_000;
/** So many changes, or characters in them, wait at most before they are put into the text. */
const maxPendingChanges = 500;
const maxPendingCharacters = 1024 * 1024;

/** The documents a client has open, as the next kernel must be told of them. */
export class OpenDocuments {
  readonly #documents = new Map<string, OpenDocument>();

  /** Takes in a `textDocument/didOpen`, `didChange` or `didClose`. */
  hear(method: string, params: unknown): void {
    const document =
      isJsonObject(params) && isJsonObject(params["textDocument"]) ? params["textDocument"] : null;
    const uri = document?.["uri"];
    if (!document || typeof uri !== "string") return;
    if (method === "textDocument/didOpen") this.#open(uri, document);
    else if (method === "textDocument/didClose") this.#documents.delete(uri);
    else if (isJsonObject(params)) this.#change(uri, document["version"], params["contentChanges"]);
  }

  /** One `textDocument/didOpen` for each document, with its text as it is now. */
  replay(): NotificationMessage[] {
    return [...this.#documents.values()].map((document) => {
      fold(document);
      const { uri, languageId, version, text } = document;
      return {
        jsonrpc: "2.0",
        method: "textDocument/didOpen",
        params: { textDocument: { uri, languageId, version, text } },
      };
    });
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
    });
  }

  #change(uri: string, version: unknown, changes: unknown): void {
    const document = this.#documents.get(uri);
    if (!document || !Array.isArray(changes)) return;
    document.version = version;
    for (const change of changes) {
      document.pending.push(change);
      document.pendingCharacters += isJsonObject(change) ? String(change["text"]).length : 0;
    }
    if (document.pending.length > maxPendingChanges || document.pendingCharacters > maxPendingCharacters)
      fold(document);
    if (document.text.length > maxOpenCharacters) this.#documents.delete(uri);
  }

  #characters(): number {
    let sum = 0;
    for (const { text, pendingCharacters } of this.#documents.values())
      sum += text.length + pendingCharacters;
    return sum;
  }
}

function fold(document: OpenDocument): void {
  for (const change of document.pending) document.text = applyChange(document.text, change);
  document.pending = [];
  document.pendingCharacters = 0;
}

/** One entry of `contentChanges`; what is no change at all leaves the text as it is. */
export function applyChange(text: string, change: unknown): string {
  if (!isJsonObject(change) || typeof change["text"] !== "string") return text;
  if (!isJsonObject(change["range"])) return change["text"];
  const start = offsetAt(text, change["range"]["start"]);
  const end = offsetAt(text, change["range"]["end"]);
  return text.slice(0, Math.min(start, end)) + change["text"] + text.slice(Math.max(start, end));
}

/** Offset of an LSP position: lines end with LF, CRLF or CR; characters count UTF-16 units and stop at the line's end. */
function offsetAt(text: string, position: unknown): number {
  const { line, character } = isJsonObject(position) ? position : { line: 0, character: 0 };
  const lineBreak = /\r\n|\n|\r/g;
  let start = 0;
  for (let passed = 0; passed < Number(line); passed++) {
    const found = lineBreak.exec(text);
    if (!found) return text.length;
    start = lineBreak.lastIndex;
  }
  const end = lineBreak.exec(text)?.index ?? text.length;
  return Math.min(start + Math.max(0, Number(character)), end);
}
