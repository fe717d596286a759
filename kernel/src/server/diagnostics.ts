import type { Diagnostic } from "vscode-languageserver";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { supports } from "./language/params.ts";
import { maxOpenDocumentCharacters } from "./open-documents.ts";
import type { KernelServices } from "./ports.ts";
import type { Session } from "./session.ts";

/** Diagnostics of the documents Lares reads: pushed on open and on each change, the empty list too. */
export class DocumentDiagnostics {
  readonly #kernel: KernelServices;
  readonly #session: Session;
  readonly #log: Log;
  readonly #versions = new Map<string, number>();
  #changes = 0;
  /** Documents that are being checked. */
  readonly #checking = new Set<string>();

  constructor(kernel: KernelServices, session: Session, log: Log) {
    this.#kernel = kernel;
    this.#session = session;
    this.#log = log;
  }

  changed(uri: string): void {
    const { documents } = this.#session;
    if (!documents.has(uri) || !this.#kernel.documents.handles(uri)) return;
    this.#versions.set(uri, ++this.#changes);
    if (documents.text(uri) === null) {
      this.#publish(uri, [tooLarge]);
      return;
    }
    // Whoever types faster than a long document is checked waits for two checks at most: of before, and of what is there.
    if (!this.#checking.has(uri)) void this.#check(uri);
  }

  async #check(uri: string): Promise<void> {
    this.#checking.add(uri);
    try {
      for (let checked = 0; this.#versions.get(uri) !== checked;) {
        checked = this.#versions.get(uri) ?? 0;
        const text = this.#session.documents.text(uri);
        if (text === null) return;
        const diagnostics = await this.#kernel.documents.diagnose(uri, text, this.#session.documents);
        // What was found in a text that has changed since is nobody's business any more.
        if (this.#versions.get(uri) === checked) this.#publish(uri, diagnostics);
      }
    } catch (error) {
      this.#log.error(`${uri} could not be checked: ${messageOf(error)}`);
    } finally {
      this.#checking.delete(uri);
    }
  }

  /** What another file says may have been wrong or right of these: a program's handlers, an extension's manifest. */
  saved(uri: string): void {
    if (!this.#kernel.documents.concerns(uri)) return;
    for (const known of this.#versions.keys()) if (known !== uri) this.changed(known);
  }

  closed(uri: string): void {
    if (this.#versions.delete(uri)) this.#publish(uri, []);
  }

  #publish(uri: string, diagnostics: readonly unknown[]): void {
    const { documents, endpoint } = this.#session;
    const version = supports(this.#session, "textDocument", "publishDiagnostics", "versionSupport")
      ? documents.version(uri)
      : null;
    endpoint.notifyStandard("textDocument/publishDiagnostics", {
      uri,
      ...(version === null ? {} : { version }),
      diagnostics,
    });
  }
}

/** Of a document whose text is not kept: silence would look like a document without faults. */
const tooLarge: Diagnostic = {
  range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } },
  severity: 1,
  code: "document-too-large",
  source: "lares",
  message: `The document is not checked: it has more than ${maxOpenDocumentCharacters} characters, or too much is open at once.`,
};
