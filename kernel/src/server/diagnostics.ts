import type { Diagnostic } from "vscode-languageserver";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { supports } from "./session/params.ts";
import { maxOpenDocumentCharacters } from "./session/open-documents.ts";
import type { Diagnosis } from "../base/vocabulary/editing.ts";
import type { DiagnosisWatch } from "../services/editing.ts";
import type { Services } from "../services/ports.ts";
import { diagnosticOf } from "./session/faults.ts";
import { withPositions } from "./position-encoding.ts";
import type { Session } from "./session/session.ts";

/** Documents of one client whose diagnostics follow what lies around them; any more follow their own text only. */
export const maxFollowed = 100;

/** An open document that Lares reads. */
interface Known {
  /** Counts what may have changed its diagnostics; the last that was checked. */
  due: number;
  checked: number;
  /** Its text is another one since diagnostics were pushed. */
  isTyped: boolean;
  /** What was pushed last, as a text. */
  pushed: string;
  isBeingChecked: boolean;
  readonly watch: DiagnosisWatch | null;
}

/**
 * Diagnostics of the documents Lares reads: pushed on open and on each change, the empty list too, and once more when what
 * they were made from changed on the disk or in what the client has open, and they with it.
 */
export class DocumentDiagnostics implements Disposable {
  readonly #kernel: Services;
  readonly #session: Session;
  readonly #log: Log;
  readonly #known = new Map<string, Known>();

  constructor(kernel: Services, session: Session, log: Log) {
    this.#kernel = kernel;
    this.#session = session;
    this.#log = log;
  }

  /** The client has another text for this file: opened, typed, saved or closed. */
  heardOf(uri: string): void {
    for (const [other, { watch }] of this.#known) if (other !== uri) watch?.heardOf(uri);
  }

  changed(uri: string): void {
    const { documents } = this.#session;
    if (!documents.has(uri) || !this.#kernel.documents.handles(uri)) return;
    const known = this.#known.get(uri) ?? this.#opened(uri);
    known.isTyped = true;
    if (documents.text(uri) === null) {
      known.due++;
      this.#publish(uri, known, [tooLarge]);
    } else this.#due(uri, known);
  }

  closed(uri: string): void {
    const known = this.#known.get(uri);
    if (known === undefined) return;
    this.#known.delete(uri);
    known.watch?.[Symbol.dispose]();
    known.isTyped = true;
    this.#publish(uri, known, []);
  }

  [Symbol.dispose](): void {
    for (const { watch } of this.#known.values()) watch?.[Symbol.dispose]();
    this.#known.clear();
  }

  #opened(uri: string): Known {
    const known: Known = {
      due: 0,
      checked: 0,
      isTyped: true,
      pushed: "",
      isBeingChecked: false,
      watch:
        this.#known.size < maxFollowed
          ? this.#kernel.documents.follow(uri, () => this.#due(uri, known))
          : null,
    };
    this.#known.set(uri, known);
    return known;
  }

  #due(uri: string, known: Known): void {
    known.due++;
    // Whoever types faster than a long document is checked waits for two checks at most: of before, and of what is there.
    if (!known.isBeingChecked) void this.#check(uri, known);
  }

  async #check(uri: string, known: Known): Promise<void> {
    const { documents } = this.#session;
    known.isBeingChecked = true;
    try {
      while (known.checked !== known.due && this.#known.get(uri) === known) {
        known.checked = known.due;
        const text = documents.text(uri);
        if (text === null) return;
        const diagnosis = await this.#kernel.documents.diagnose(uri, text, documents);
        this.#found(uri, known, diagnosis);
      }
    } catch (error) {
      this.#log.error(`${uri} could not be checked: ${messageOf(error)}`);
    } finally {
      known.isBeingChecked = false;
    }
  }

  #found(uri: string, known: Known, { faults, lookedAt }: Diagnosis): void {
    // What was found in a text that has changed since is nobody's business any more.
    if (known.due !== known.checked || this.#known.get(uri) !== known) return;
    this.#publish(uri, known, faults.map(diagnosticOf));
    // Between reading and following it may have become another.
    if (known.watch?.watch(lookedAt) === true) known.due++;
  }

  #publish(uri: string, known: Known, diagnostics: readonly unknown[]): void {
    const pushed = JSON.stringify(diagnostics);
    if (!known.isTyped && known.pushed === pushed) return;
    known.isTyped = false;
    known.pushed = pushed;
    const { documents, endpoint, positionEncoding } = this.#session;
    const version = supports(this.#session, "textDocument", "publishDiagnostics", "versionSupport")
      ? documents.version(uri)
      : null;
    endpoint.notifyStandard("textDocument/publishDiagnostics", {
      uri,
      ...(version === null ? {} : { version }),
      diagnostics: withPositions(diagnostics, uri, positionEncoding, "to-client", (each) =>
        documents.text(each),
      ),
    });
  }
}

/** Of a document whose text is not kept: silence would look like a document without faults. */
const tooLarge: Diagnostic = {
  range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } },
  severity: 1,
  code: "document-too-large",
  source: "lares",
  message: `The document is not checked: it has more than ${maxOpenDocumentCharacters} characters, too much is open at once, or too much was changed at once.`,
};
