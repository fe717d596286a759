import type {
  CodeAction,
  CodeLens,
  Command,
  Diagnostic,
  TextDocumentEdit,
  TextEdit,
} from "vscode-languageserver-types";
import type { Bench } from "./bench.ts";
import type { Client } from "./client.ts";
import { METHOD_NOT_FOUND } from "./client.ts";
import type { Message } from "./frames.ts";
import { LanguageClient } from "./language-client.ts";
import { until } from "./until.ts";

/** The capabilities of a current editor for edits by the server, lenses and code actions. */
export const CHAT_CAPABILITIES = {
  workspace: {
    applyEdit: true,
    codeLens: { refreshSupport: true },
    workspaceEdit: { documentChanges: true },
  },
  textDocument: {
    codeLens: {},
    codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ["", "quickfix"] } } },
  },
};

interface WorkspaceEdit {
  readonly documentChanges?: readonly TextDocumentEdit[];
  readonly changes?: Readonly<Record<string, readonly TextEdit[]>>;
}

/** One open file in an editor that applies the kernel's edits, and refuses those for another version. */
export class ChatEditor {
  readonly client: Client;
  readonly uri: string;
  text: string;
  version = 1;
  /** Edits that were asked for, and whether each was applied. */
  readonly edits: { readonly edit: WorkspaceEdit; readonly applied: boolean }[] = [];
  /** Called before an edit is looked at: what the person does at that moment. Returns false to refuse it. */
  beforeEdit: () => boolean = () => true;

  constructor(bench: Bench, client: Client, path: string, text = "") {
    this.client = client;
    this.uri = bench.uri(path);
    this.text = text;
    client.answer = (request) => this.#answer(request);
    client.notify("textDocument/didOpen", {
      textDocument: { uri: this.uri, languageId: "markdown", version: this.version, text },
    });
  }

  /** The person changes the text. */
  type(text: string): void {
    this.text = text;
    this.client.notify("textDocument/didChange", {
      textDocument: { uri: this.uri, version: ++this.version },
      contentChanges: [{ text }],
    });
  }

  add(text: string): void {
    this.type(this.text + text);
  }

  close(): void {
    this.client.notify("textDocument/didClose", { textDocument: { uri: this.uri } });
  }

  lenses(): Promise<CodeLens[]> {
    return this.client.request("textDocument/codeLens", { textDocument: { uri: this.uri } });
  }

  async lensTitles(): Promise<string[]> {
    return (await this.lenses()).map(({ command }) => command?.title ?? "");
  }

  actions(): Promise<(CodeAction | Command)[]> {
    const start = { line: 0, character: 0 };
    return this.client.request("textDocument/codeAction", {
      textDocument: { uri: this.uri },
      range: { start, end: start },
      context: { diagnostics: [] },
    });
  }

  async actionTitles(): Promise<string[]> {
    return (await this.actions()).map(({ title }) => title);
  }

  /** Chooses the lens or the code action whose title begins so, as soon as it is offered. */
  async choose(start: string, by: "lens or action" | "action" = "lens or action"): Promise<void> {
    const { command } = await until(`"${start}"`, async () => {
      const lenses = by === "action" ? [] : await this.lenses();
      const offered = [...lenses.map(({ command }) => command), ...(await this.actions())];
      const found = offered.find((each) => each?.title.startsWith(start));
      if (found !== undefined && "edit" in found) {
        this.apply(found.edit as WorkspaceEdit);
        return { command: null };
      }
      const chosen = typeof found?.command === "object" ? found.command : (found as Command | undefined);
      return chosen === undefined ? null : { command: chosen };
    });
    if (command !== null)
      await this.client.request("workspace/executeCommand", {
        command: command.command,
        arguments: command.arguments,
      });
  }

  /** Waits until the text is this, or fits the pattern. */
  async shows(wanted: string | RegExp): Promise<void> {
    await until(`the text ${JSON.stringify(String(wanted))} in ${JSON.stringify(this.text)}`, () =>
      typeof wanted === "string" ? this.text === wanted : wanted.test(this.text),
    );
  }

  /** Returns the diagnostics that were published last. */
  diagnostics(): Diagnostic[] {
    return (
      this.client
        .notifications<{ uri: string; diagnostics: Diagnostic[] }>("textDocument/publishDiagnostics")
        .findLast(({ uri }) => uri === this.uri)?.diagnostics ?? []
    );
  }

  messages(): string[] {
    return this.client.notifications<{ message: string }>("window/showMessage").map(({ message }) => message);
  }

  apply(edit: WorkspaceEdit): boolean {
    const [change] = edit.documentChanges ?? [];
    const edits = change?.edits ?? edit.changes?.[this.uri] ?? [];
    const isCurrent = change === undefined || change.textDocument.version === this.version;
    if (!isCurrent) return false;
    this.type(LanguageClient.applied(this.text, edits as TextEdit[]));
    return true;
  }

  #answer({ method, params }: Message): unknown {
    if (method !== "workspace/applyEdit")
      return method === "workspace/codeLens/refresh" ? null : METHOD_NOT_FOUND;
    const { edit } = params as { edit: WorkspaceEdit };
    const applied = this.beforeEdit() && this.apply(edit);
    this.edits.push({ edit, applied });
    return { applied };
  }
}
