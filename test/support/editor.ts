import { readFile } from "node:fs/promises";
import type { CodeAction, CodeLens, Command } from "vscode-languageserver-types";
import type { Bench } from "./bench.ts";
import type { Client } from "./client.ts";
import { until } from "./until.ts";

/** The capabilities of a current editor for code actions and lenses. */
export const EDITOR_CAPABILITIES = {
  workspace: { codeLens: { refreshSupport: true }, applyEdit: true },
  textDocument: {
    codeAction: {
      codeActionLiteralSupport: { codeActionKind: { valueSet: ["", "quickfix"] } },
      disabledSupport: true,
    },
    codeLens: {},
  },
};

const everywhere = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };

/** A client used like an editor: files of the workspace by their relative paths. */
export class Editor {
  readonly client: Client;
  readonly #bench: Bench;

  constructor(bench: Bench, client: Client) {
    this.#bench = bench;
    this.client = client;
  }

  async open(path: string): Promise<void> {
    const text = await readFile(this.#bench.path(path), "utf8");
    this.client.notify("textDocument/didOpen", {
      textDocument: { uri: this.#bench.uri(path), languageId: "plaintext", version: 1, text },
    });
  }

  type(path: string, text: string): void {
    this.client.notify("textDocument/didChange", {
      textDocument: { uri: this.#bench.uri(path), version: 2 },
      contentChanges: [{ text }],
    });
  }

  save(path: string): void {
    this.client.notify("textDocument/didSave", { textDocument: { uri: this.#bench.uri(path) } });
  }

  close(path: string): void {
    this.client.notify("textDocument/didClose", { textDocument: { uri: this.#bench.uri(path) } });
  }

  codeActions(path: string, only?: readonly string[]): Promise<(CodeAction | Command)[]> {
    return this.client.request("textDocument/codeAction", {
      textDocument: { uri: this.#bench.uri(path) },
      range: everywhere,
      context: { diagnostics: [], ...(only === undefined ? {} : { only }) },
    });
  }

  async codeActionTitles(path: string): Promise<string[]> {
    return (await this.codeActions(path)).map(({ title }) => title);
  }

  lenses(path: string): Promise<CodeLens[]> {
    return this.client.request("textDocument/codeLens", { textDocument: { uri: this.#bench.uri(path) } });
  }

  /** Returns the lenses as an editor draws them: the line below each, and its title. */
  async lensLines(path: string): Promise<[number, string][]> {
    const lenses = await this.lenses(path);
    const lines = new Map<number, string[]>();
    for (const { range, command } of lenses) {
      const { line } = range.start;
      lines.set(line, [...(lines.get(line) ?? []), command?.title ?? ""]);
    }
    return [...lines].map(([line, titles]) => [line, titles.join(" · ")]);
  }

  run<Result>({ command, arguments: given }: Command): Promise<Result> {
    return this.client.request<Result>("workspace/executeCommand", { command, arguments: given });
  }

  /** Chooses a code action of the file by its beginning and, if there are several, by the agent's title in it. */
  async choose<Result>(path: string, start: string, title?: string): Promise<Result> {
    const actions = await this.codeActions(path);
    const chosen = actions.find(
      (action) =>
        action.title.startsWith(start) && (title === undefined || action.title.includes(`says: "${title}"`)),
    );
    const command = typeof chosen?.command === "object" ? chosen.command : (chosen as Command | undefined);
    if (command === undefined)
      throw new Error(`no "${start}" among ${JSON.stringify(actions.map((action) => action.title))}`);
    return this.run<Result>(command);
  }

  /** Resolves to the newest shown message that `matches`. */
  message(matches: RegExp): Promise<string> {
    return until(`a message like ${String(matches)}`, () =>
      this.client
        .notifications<{ message: string }>("window/showMessage")
        .map(({ message }) => message)
        .findLast((message) => matches.test(message)),
    );
  }
}
