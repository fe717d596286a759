import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  createMessageConnection,
  type MessageConnection,
  type MessageReader,
  type MessageWriter,
} from "vscode-jsonrpc/node";
import type { Diagnostic } from "vscode-languageserver-types";
import { until } from "../../support/until.ts";

/** The part of a server's log that a failure shows. */
const saidCharacters = 2000;

interface Published {
  readonly uri: string;
  readonly version?: number;
  readonly diagnostics: Diagnostic[];
}

/** Another project's server, and the editor's end of its channel. */
export class LanguageServer implements AsyncDisposable {
  readonly connection: MessageConnection;
  hasAskedSettings = false;
  readonly #child: ChildProcess;
  /** What was published for the present text of each document, oldest first. */
  readonly #published = new Map<string, Published[]>();
  #lastVersion = 0;
  #stderr = "";

  private constructor(child: ChildProcess, reader: MessageReader, writer: MessageWriter) {
    this.#child = child;
    child.stderr?.on("data", (chunk: Buffer) => (this.#stderr += chunk.toString()));
    this.connection = createMessageConnection(reader, writer);
    this.connection.onNotification("textDocument/publishDiagnostics", (published: Published) => {
      this.#published.get(published.uri)?.push(published);
    });
  }

  /** Resolves once it is initialized, with the settings of one section, as an editor sends them. */
  static async start(
    child: ChildProcess,
    channel: { readonly reader: MessageReader; readonly writer: MessageWriter },
    options: { readonly folderUri: string; readonly settings: unknown; readonly capabilities: object },
  ): Promise<LanguageServer> {
    const { folderUri, settings, capabilities } = options;
    const server = new LanguageServer(child, channel.reader, channel.writer);
    const { connection } = server;
    connection.onRequest("workspace/configuration", ({ items }: { items: unknown[] }) => {
      server.hasAskedSettings = true;
      return items.map(() => settings);
    });
    connection.onRequest("client/registerCapability", () => null);
    connection.listen();
    await Promise.race([
      server.#ended(),
      connection.sendRequest("initialize", {
        processId: process.pid,
        rootUri: folderUri,
        workspaceFolders: [{ uri: folderUri, name: "workspace" }],
        capabilities,
      }),
    ]);
    await connection.sendNotification("initialized", {});
    return server;
  }

  /**
   * Returns its findings in a document's text, once `isAll` holds for what it has published. The document stays open:
   * some servers handle messages concurrently, and would close the text that follows.
   */
  async diagnosticsOf(
    { uri, languageId, text }: { readonly uri: string; readonly languageId: string; readonly text: string },
    isAll: (published: readonly Published[], version: number) => boolean,
  ): Promise<Diagnostic[]> {
    const version = ++this.#lastVersion;
    const isOpen = this.#published.has(uri);
    const published: Published[] = [];
    this.#published.set(uri, published);
    if (isOpen)
      await this.connection.sendNotification("textDocument/didChange", {
        textDocument: { uri, version },
        contentChanges: [{ text }],
      });
    else
      await this.connection.sendNotification("textDocument/didOpen", {
        textDocument: { uri, languageId, version, text },
      });
    try {
      await until(`all diagnostics of ${uri}`, () => isAll(published, version));
    } catch (error) {
      throw new Error(`The server said: ${this.#stderr.slice(-saidCharacters)}`, { cause: error });
    }
    return published.at(-1)?.diagnostics ?? [];
  }

  async #ended(): Promise<never> {
    await once(this.#child, "exit");
    throw new Error(`It ended before it was initialized: ${this.#stderr.slice(-saidCharacters)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const hasExited = this.#child.exitCode === null ? once(this.#child, "exit") : undefined;
    this.connection.dispose();
    this.#child.kill();
    await hasExited;
  }
}
