import { SharedRun } from "../base/shared-run.ts";
import type { FileService } from "./files.ts";

interface ClientDocuments {
  /** Resolves when `unsaved` reflects a comparison with the current files. */
  compared(): Promise<void>;
  /** Returns the URIs of the documents with unsaved changes. */
  unsaved(): readonly string[];
}

/**
 * The open documents with unsaved changes, of the clients of all doors. A door adds each client's documents;
 * actions and proposals ask here, so that nothing is written to a file with unsaved edits.
 */
export class UnsavedDocuments {
  readonly #files: Pick<FileService, "pathsOf">;
  readonly #clients = new Set<ClientDocuments>();
  /** Each comparison reads all open documents, so concurrent callers share one. */
  readonly #comparisons = new SharedRun(() => this.#compare());

  constructor(files: Pick<FileService, "pathsOf">) {
    this.#files = files;
  }

  /** Includes a client's documents until the result is disposed. */
  add(documents: ClientDocuments): Disposable {
    this.#clients.add(documents);
    return { [Symbol.dispose]: () => void this.#clients.delete(documents) };
  }

  /** Returns the first of these workspace paths with unsaved changes, under any name; null if there is none. */
  async among(paths: readonly string[]): Promise<string | null> {
    const uris = await this.#comparisons.run();
    const open = new Set((await Promise.all(uris.map((uri) => this.#files.pathsOf(uri)))).flat());
    return paths.find((path) => open.has(path)) ?? null;
  }

  async #compare(): Promise<string[]> {
    const clients = [...this.#clients];
    await Promise.all(clients.map((client) => client.compared()));
    // Read after all comparisons, so that changes made meanwhile count.
    return clients.flatMap((client) => [...client.unsaved()]);
  }
}
