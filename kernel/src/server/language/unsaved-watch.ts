import type { OpenDocuments } from "../session/open-documents.ts";

/** Reports when a file with a waiting change gets unsaved changes or loses them, because its lenses show that. */
export class UnsavedWatch {
  readonly #documents: OpenDocuments;
  readonly #isAwaited: (uri: string) => Promise<boolean>;
  readonly #changed: () => void;
  /** URIs; bounded by the number of open documents. */
  readonly #unsaved = new Set<string>();

  constructor(documents: OpenDocuments, isAwaited: (uri: string) => Promise<boolean>, changed: () => void) {
    this.#documents = documents;
    this.#isAwaited = isAwaited;
    this.#changed = changed;
  }

  /** Called when the client opened, changed, saved or closed a file. */
  async textChanged(uri: string): Promise<void> {
    if (!this.#unsaved.has(uri) && !(await this.#isAwaited(uri))) return;
    // The text of a newly opened document may differ from its file.
    await this.#documents.compared();
    const isUnsaved = this.#documents.isUnsaved(uri);
    if (isUnsaved === this.#unsaved.has(uri)) return;
    if (isUnsaved) this.#unsaved.add(uri);
    else this.#unsaved.delete(uri);
    this.#changed();
  }
}
