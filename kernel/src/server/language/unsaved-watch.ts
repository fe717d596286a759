import type { OpenDocuments } from "../session/open-documents.ts";

/** Tells when a file that an action waits to change gets unsaved changes, and when they are gone: its lenses say so. */
export class UnsavedWatch {
  readonly #documents: OpenDocuments;
  readonly #isAwaited: (uri: string) => Promise<boolean>;
  readonly #changed: () => void;
  /** Bounded as the open documents are. */
  readonly #unsaved = new Set<string>();

  constructor(documents: OpenDocuments, isAwaited: (uri: string) => Promise<boolean>, changed: () => void) {
    this.#documents = documents;
    this.#isAwaited = isAwaited;
    this.#changed = changed;
  }

  /** The client opened, changed, saved or closed it. */
  async heardOf(uri: string): Promise<void> {
    if (!this.#unsaved.has(uri) && !(await this.#isAwaited(uri))) return;
    // What was just opened may differ from its file.
    await this.#documents.compared();
    const isUnsaved = this.#documents.isUnsaved(uri);
    if (isUnsaved === this.#unsaved.has(uri)) return;
    if (isUnsaved) this.#unsaved.add(uri);
    else this.#unsaved.delete(uri);
    this.#changed();
  }
}
