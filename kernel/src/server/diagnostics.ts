import type { Diagnostic } from "vscode-languageserver";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { maxOpenDocumentCharacters } from "./session/open-documents.ts";
import type { Diagnosis } from "../base/vocabulary/editing.ts";
import type { DiagnosisWatch } from "../services/editing.ts";
import type { Services } from "../services/ports.ts";
import { diagnosticOf } from "./session/faults.ts";
import { publishDiagnostics } from "./session/publish-diagnostics.ts";
import type { Session } from "./session/session.ts";

/**
 * Maximum number of documents per client whose diagnostics follow other files; further documents follow their own
 * text only.
 */
export const maxFollowed = 100;

/** The state of an open document that Lares checks. */
interface TrackedDocument {
  /** The number of changes that may affect the diagnostics, and its value at the last check. */
  due: number;
  checked: number;
  /** The text has changed since diagnostics were last published. */
  isTyped: boolean;
  /** The diagnostics that were published last, as JSON. */
  pushed: string;
  isBeingChecked: boolean;
  readonly watch: DiagnosisWatch | null;
}

/**
 * Publishes diagnostics of the documents that Lares reads: on open and on each change, even if the list is empty, and
 * again if a change of another file, on disk or open in the client, changes them.
 */
export class DocumentDiagnostics implements Disposable {
  readonly #kernel: Services;
  readonly #session: Session;
  readonly #log: Log;
  readonly #known = new Map<string, TrackedDocument>();

  constructor(kernel: Services, session: Session, log: Log) {
    this.#kernel = kernel;
    this.#session = session;
    this.#log = log;
  }

  /** Called when the client opened, changed, saved or closed a file. */
  otherTextChanged(uri: string): void {
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

  #opened(uri: string): TrackedDocument {
    const known: TrackedDocument = {
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

  #due(uri: string, known: TrackedDocument): void {
    known.due++;
    // At most one check runs per document, and all changes meanwhile share the next one.
    if (!known.isBeingChecked) void this.#check(uri, known);
  }

  async #check(uri: string, known: TrackedDocument): Promise<void> {
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

  #found(uri: string, known: TrackedDocument, { faults, lookedAt }: Diagnosis): void {
    // The text has changed since the check began, so its result is out of date.
    if (known.due !== known.checked || this.#known.get(uri) !== known) return;
    this.#publish(uri, known, faults.map(diagnosticOf));
    // A file may have changed between the check and the start of the watch.
    if (known.watch?.watch(lookedAt) === true) known.due++;
  }

  #publish(uri: string, known: TrackedDocument, diagnostics: readonly Diagnostic[]): void {
    const pushed = JSON.stringify(diagnostics);
    if (!known.isTyped && known.pushed === pushed) return;
    known.isTyped = false;
    known.pushed = pushed;
    publishDiagnostics(this.#session, uri, diagnostics);
  }
}

/** Published if the text is not kept: no diagnostics would look like a document without errors. */
const tooLarge: Diagnostic = {
  range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } },
  severity: 1,
  code: "document-too-large",
  source: "lares",
  message: `The document is not checked, because it has more than ${maxOpenDocumentCharacters} characters, too many open documents, or too large a change. Shorten it, or close other documents and open it again.`,
};
