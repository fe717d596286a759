import type { CompletionItem, CompletionList, Hover, InlayHint, Position } from "vscode-languageserver";
import type { Bench } from "./bench.ts";
import type { Client } from "./client.ts";

/** What VS Code says of itself, as far as completion and hovers go. */
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

/** A text with `|` where the cursor is, open in an editor under a name of its own. */
export class Editing {
  readonly uri: string;
  readonly text: string;
  readonly position: Position;
  readonly #client: Client;

  constructor(bench: Bench, client: Client, name: string, marked: string, folder = `typed-${++opened}`) {
    const before = marked.slice(0, marked.indexOf("|"));
    this.#client = client;
    this.uri = bench.uri(`${folder}/${name}`);
    this.text = before + marked.slice(before.length + 1);
    const lines = before.split(/\r?\n/);
    this.position = { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
    const languageId = name.endsWith(".toml") ? "toml" : "yaml";
    client.notify("textDocument/didOpen", {
      textDocument: { uri: this.uri, languageId, version: 1, text: this.text },
    });
  }

  #params() {
    return { textDocument: { uri: this.uri }, position: this.position };
  }

  async complete(): Promise<CompletionItem[]> {
    const list = await this.#client.request<CompletionList | null>("textDocument/completion", this.#params());
    return list?.items ?? [];
  }

  async labels(): Promise<string[]> {
    return (await this.complete()).map(({ label }) => label);
  }

  /** The text once this proposal is accepted, as an editor without snippets does it. */
  async accept(label: string): Promise<string> {
    const item = (await this.complete()).find((each) => each.label === label);
    if (item?.textEdit === undefined || !("range" in item.textEdit))
      throw new Error(`"${label}" is not offered in ${JSON.stringify(this.text)}`);
    const { range, newText } = item.textEdit;
    const lines = this.text.split("\n");
    const line = lines[range.start.line] ?? "";
    lines[range.start.line] =
      line.slice(0, range.start.character) + newText + line.slice(range.end.character);
    return lines.join("\n");
  }

  hover(): Promise<Hover | null> {
    return this.#client.request<Hover | null>("textDocument/hover", this.#params());
  }

  inlayHints(): Promise<InlayHint[] | null> {
    const range = {
      start: { line: 0, character: 0 },
      end: { line: this.text.split("\n").length, character: 0 },
    };
    return this.#client.request("textDocument/inlayHint", { textDocument: { uri: this.uri }, range });
  }
}
