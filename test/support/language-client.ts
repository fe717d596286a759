import type {
  CompletionItem,
  CompletionList,
  Hover,
  InlayHint,
  Position,
  TextEdit,
} from "vscode-languageserver-types";
import type { Bench } from "./bench.ts";
import type { Client } from "./client.ts";

/** An editor's requests about its open documents. */
export class LanguageClient {
  /** The capabilities of a current editor. */
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

  /** Returns the text with the edits applied, like an editor does it. */
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

/** VS Code's capabilities for completion and hovers. */
export const graphical = {
  textDocument: {
    completion: {
      completionItem: {
        snippetSupport: true,
        documentationFormat: ["markdown", "plaintext"],
        insertTextModeSupport: { valueSet: [1, 2] },
      },
    },
    hover: { contentFormat: ["markdown", "plaintext"] },
  },
};

let opened = 0;

/** A text with `|` at the cursor, open in an editor under a name of its own. */
export class Editing {
  readonly uri: string;
  readonly text: string;
  readonly position: Position;
  readonly #editor: LanguageClient;

  constructor(bench: Bench, client: Client, name: string, marked: string, folder = `typed-${++opened}`) {
    const at = marked.indexOf("|");
    this.#editor = new LanguageClient(client);
    this.uri = bench.uri(`${folder}/${name}`);
    this.text = marked.slice(0, at) + marked.slice(at + 1);
    this.#editor.open(this.uri, this.text);
    this.position = this.#editor.position(this.uri, at);
  }

  async complete(): Promise<CompletionItem[]> {
    const list = await this.#ask<CompletionList | null>("textDocument/completion");
    return list?.items ?? [];
  }

  async labels(): Promise<string[]> {
    return (await this.complete()).map(({ label }) => label);
  }

  /** Returns the text after this proposal is accepted, like an editor without snippets does it. */
  async accept(label: string): Promise<string> {
    const item = (await this.complete()).find((each) => each.label === label);
    if (item?.textEdit === undefined || !("range" in item.textEdit))
      throw new Error(`"${label}" is not offered in ${JSON.stringify(this.text)}`);
    return LanguageClient.applied(this.text, [item.textEdit]);
  }

  hover(): Promise<Hover | null> {
    return this.#ask("textDocument/hover");
  }

  inlayHints(): Promise<InlayHint[] | null> {
    const end = this.#editor.position(this.uri, this.text.length);
    return this.#editor.ask("textDocument/inlayHint", this.uri, {
      range: { start: { line: 0, character: 0 }, end },
    });
  }

  #ask<Result>(method: string): Promise<Result> {
    return this.#editor.ask<Result>(method, this.uri, { position: this.position });
  }
}
