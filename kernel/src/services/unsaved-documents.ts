import { SharedRun } from "../base/shared-run.ts";
import type { FileService } from "./files.ts";

/** The documents that one client has open. */
interface ClientDocuments {
  /** Resolves once `unsaved` compares what is open with the files as they are now. */
  compared(): Promise<void>;
  /** URIs of the documents whose text is not what is saved. */
  unsaved(): readonly string[];
}

/**
 * What the clients of all doors have open and have not saved. A door adds each client's documents; actions and proposals
 * ask here, so that nothing is written under anybody's unsaved work.
 */
export class UnsavedDocuments {
  readonly #files: Pick<FileService, "pathsOf">;
  readonly #clients = new Set<ClientDocuments>();
  /** Each comparison reads all that is open, so those who ask at the same time share one. */
  readonly #comparisons = new SharedRun(() => this.#compare());

  constructor(files: Pick<FileService, "pathsOf">) {
    this.#files = files;
  }

  /** Counts a client's documents until the result is disposed. */
  add(documents: ClientDocuments): Disposable {
    this.#clients.add(documents);
    return { [Symbol.dispose]: () => void this.#clients.delete(documents) };
  }

  /** Returns the first of these workspace paths that is open with unsaved changes, by whatever name; null where none is. */
  async among(paths: readonly string[]): Promise<string | null> {
    const uris = await this.#comparisons.run();
    const open = new Set((await Promise.all(uris.map((uri) => this.#files.pathsOf(uri)))).flat());
    return paths.find((path) => open.has(path)) ?? null;
  }

  async #compare(): Promise<string[]> {
    const clients = [...this.#clients];
    await Promise.all(clients.map((client) => client.compared()));
    // Read once all are compared: what one client changes meanwhile counts.
    return clients.flatMap((client) => [...client.unsaved()]);
  }
}
