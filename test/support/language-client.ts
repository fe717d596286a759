import type { Position, TextEdit } from "vscode-languageserver-types";
import type { Client } from "./client.ts";

/** An editor's questions about documents that it has open. */
export class LanguageClient {
  /** What an editor of today says that it can do. */
  static readonly capabilities = {
    workspace: { workspaceEdit: { documentChanges: true }, codeLens: { refreshSupport: true } },
    textDocument: {
      documentSymbol: { hierarchicalDocumentSymbolSupport: true },
      definition: { linkSupport: true },
      rename: { prepareSupport: true },
      codeAction: {
        codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix"] } },
        isPreferredSupport: true,
      },
    },
  };

  readonly client: Client;
  readonly #texts = new Map<string, string>();

  constructor(client: Client) {
    this.client = client;
  }

  open(uri: string, text: string, version = 1): void {
    this.#texts.set(uri, text);
    const languageId = uri.endsWith(".toml") ? "toml" : uri.endsWith(".ts") ? "typescript" : "yaml";
    this.client.notify("textDocument/didOpen", { textDocument: { uri, languageId, version, text } });
  }

  ask<Result>(method: string, uri: string, more: object = {}): Promise<Result> {
    return this.client.request<Result>(method, { textDocument: { uri }, ...more });
  }

  askAt<Result>(method: string, uri: string, offset: number, more: object = {}): Promise<Result> {
    return this.ask<Result>(method, uri, { position: this.position(uri, offset), ...more });
  }

  position(uri: string, offset: number): Position {
    const lines = (this.#texts.get(uri) ?? "").slice(0, offset).split("\n");
    return { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
  }

  /** The text with the edits made, as an editor makes them. */
  static applied(text: string, edits: readonly TextEdit[]): string {
    const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
    const offset = ({ line, character }: Position): number => (starts[line] ?? text.length) + character;
    return edits
      .toSorted((one, other) => offset(other.range.start) - offset(one.range.start))
      .reduce(
        (result, { range, newText }) =>
          result.slice(0, offset(range.start)) + newText + result.slice(offset(range.end)),
        text,
      );
  }
}
