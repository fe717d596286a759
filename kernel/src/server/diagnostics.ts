import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { KernelServices } from "./ports.ts";
import type { Session } from "./session.ts";

/** Diagnostics of the documents Lares reads: pushed on open and on each change, the empty list too. */
export class DocumentDiagnostics {
  readonly #kernel: KernelServices;
  readonly #session: Session;
  readonly #log: Log;
  readonly #versions = new Map<string, number>();

  constructor(kernel: KernelServices, session: Session, log: Log) {
    this.#kernel = kernel;
    this.#session = session;
    this.#log = log;
  }

  changed(uri: string): void {
    const text = this.#session.documents.text(uri);
    if (text === null || !this.#kernel.documents.handles(uri)) return;
    const version = (this.#versions.get(uri) ?? 0) + 1;
    this.#versions.set(uri, version);
    this.#kernel.documents.diagnose(uri, text, this.#session.documents).then(
      (diagnostics) => {
        // What was found in a text that has changed since is nobody's business any more.
        if (this.#versions.get(uri) === version) this.#publish(uri, diagnostics);
      },
      (error: unknown) => this.#log.error(`${uri} could not be checked: ${messageOf(error)}`),
    );
  }

  /** What another file says may have been wrong or right of these: a program's handlers, an extension's manifest. */
  saved(uri: string): void {
    for (const known of this.#versions.keys()) if (known !== uri) this.changed(known);
  }

  closed(uri: string): void {
    if (this.#versions.delete(uri)) this.#publish(uri, []);
  }

  #publish(uri: string, diagnostics: readonly unknown[]): void {
    this.#session.endpoint.notifyStandard("textDocument/publishDiagnostics", { uri, diagnostics });
  }
}
