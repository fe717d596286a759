import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import { after, afterEach, before, describe, it } from "mocha";
import * as vscode from "vscode";
import { until } from "../../support/until.ts";
import { openLares, readText, show, workspaceUri, writeText } from "./lares.ts";

const manifest = ".lares/extensions/titles/extension.yaml";
const program = ".lares/extensions/titles/agent.ts";

describe("what is written in the documents", () => {
  let text: string;
  before(async () => {
    await openLares();
    text = await readText(manifest);
    await show(manifest);
  });
  after(() => vscode.commands.executeCommand("workbench.action.closeAllEditors"));

  /** The position after, or before, the first occurrence of `before`. */
  const at = (before: string, isBehind = true): vscode.Position => {
    const offset = text.indexOf(before);
    assert.notEqual(offset, -1, before);
    const lines = text.slice(0, offset + (isBehind ? before.length : 0)).split("\n");
    return new vscode.Position(lines.length - 1, lines.at(-1)?.length ?? 0);
  };
  const ask = <Result>(command: string, ...args: unknown[]): Thenable<Result> =>
    vscode.commands.executeCommand<Result>(command, workspaceUri(manifest), ...args);
  const textOf = (content: vscode.MarkdownString | vscode.MarkedString): string =>
    typeof content === "string" ? content : content.value;

  it("is underlined only at the fault", async () => {
    const wrong = text.replace("EntryCreated", "EntryCreatd");
    await writeText(manifest, wrong);
    const [fault] = await until("a diagnostic", () => {
      const found = vscode.languages.getDiagnostics(workspaceUri(manifest));
      return found.length > 0 && found;
    });
    assert.ok(fault !== undefined);
    assert.equal((await show(manifest)).document.getText(fault.range), "EntryCreatd");
    await writeText(manifest, text);
    await until("it to go", () => vscode.languages.getDiagnostics(workspaceUri(manifest)).length === 0);
  });

  it("is completed: what a filter may ask of an entry", async () => {
    const items = await until("a completion", async () => {
      const list = await ask<vscode.CompletionList>(
        "vscode.executeCompletionItemProvider",
        at("filter: entry."),
      );
      const labels = list.items.map(({ label }) => (typeof label === "string" ? label : label.label));
      return labels.some((label) => label.startsWith("isImage")) && labels;
    });
    assert.ok(items.includes("extension"), items.join());
  });

  it("is explained: a key, and a schedule in words with its next runs", async () => {
    const hovers = await ask<vscode.Hover[]>("vscode.executeHoverProvider", at("  permissions", true));
    assert.notEqual(hovers.flatMap(({ contents }) => contents.map(textOf)).join(""), "");
    const range = new vscode.Range(0, 0, text.split("\n").length, 0);
    const hints = await ask<vscode.InlayHint[]>("vscode.executeInlayHintProvider", range);
    const words = hints.map(({ label }) =>
      typeof label === "string" ? label : label.map(({ value }) => value).join(""),
    );
    assert.match(words.join("\n"), /03:00/);
  });

  it("leads from a handler's name to its function", async () => {
    const targets = await ask<(vscode.Location | vscode.LocationLink)[]>(
      "vscode.executeDefinitionProvider",
      at("handler: noteS"),
    );
    const uris = targets.map((target) => ("uri" in target ? target.uri : target.targetUri).path);
    assert.ok(
      uris.some((path) => path.endsWith(program)),
      uris.join(),
    );
  });

  it("is outlined", async () => {
    const symbols = await ask<vscode.DocumentSymbol[]>("vscode.executeDocumentSymbolProvider");
    const names = (list: readonly vscode.DocumentSymbol[]): string[] =>
      list.flatMap(({ name, children }) => [name, ...names(children)]);
    assert.ok(
      names(symbols).some((name) => name.includes("noteSaved")),
      names(symbols).join(),
    );
  });

  it("has its agents' state above them, if a person wants to see it there", async () => {
    const setting = vscode.workspace.getConfiguration("lares");
    await setting.update("documents.agentLenses", true, vscode.ConfigurationTarget.Global);
    const titles = await until("lenses", async () => {
      const lenses = await ask<vscode.CodeLens[]>("vscode.executeCodeLensProvider");
      const found = lenses.flatMap(({ command }) => command?.title ?? []);
      return found.length > 0 && found;
    });
    assert.ok(titles.includes("Reload"), titles.join());
  });

  it("is renamed in the manifest and in the program at once", async () => {
    const edit = await ask<vscode.WorkspaceEdit>(
      "vscode.executeDocumentRenameProvider",
      at("handler: noteS"),
      "noteWritten",
    );
    const paths = edit.entries().map(([uri, edits]) => `${uri.path.split("/").at(-1)}: ${edits.length}`);
    assert.deepEqual(paths.toSorted(), ["agent.ts: 1", "extension.yaml: 2"]);
  });

  describe("renamed in the program", () => {
    let source: string;
    before(async () => {
      source = (await show(program)).document.getText();
    });
    afterEach(async () => {
      for (const path of [manifest, program]) {
        await show(path);
        await vscode.commands.executeCommand("workbench.action.files.revert");
      }
    });

    /** Presses F2 at an offset in a piece of the program; returns what was renamed. */
    const renamed = async (piece: string, within: number, newName: string) => {
      const { document } = await show(program);
      const place = [document.uri, document.positionAt(source.indexOf(piece) + within)];
      const { executeCommand } = vscode.commands;
      const { placeholder } = await executeCommand<{ placeholder: string }>("vscode.prepareRename", ...place);
      const edit = await executeCommand<vscode.WorkspaceEdit>(
        "vscode.executeDocumentRenameProvider",
        ...place,
        newName,
      );
      await vscode.workspace.applyEdit(edit);
      return {
        placeholder,
        manifest: (await show(manifest)).document.getText(),
        program: (await show(program)).document.getText(),
      };
    };

    it("a handler is renamed there and in the manifest", async () => {
      assert.deepEqual(await renamed("noteSaved", 2, "noteWritten"), {
        placeholder: "noteSaved",
        manifest: text.replaceAll("noteSaved", "noteWritten"),
        program: source.replace("noteSaved", "noteWritten"),
      });
    });

    it("a handler is renamed where a function has its name too, and the function keeps it", async () => {
      assert.deepEqual(await renamed("async propose(", 8, "retitle"), {
        placeholder: "propose",
        manifest: text.replace("handler: propose", "handler: retitle"),
        program: source.replace("async propose(", "async retitle("),
      });
    });

    it("a function is TypeScript's, at all its places", async () => {
      assert.deepEqual(await renamed("function propose", 10, "suggest"), {
        placeholder: "propose",
        manifest: text,
        program: source
          .replace("function propose", "function suggest")
          .replaceAll("await propose", "await suggest"),
      });
    });

    it("a variable is TypeScript's, which keeps the property that has its name", async () => {
      assert.deepEqual(await renamed("const content", 7, "body"), {
        placeholder: "content",
        manifest: text,
        program: source
          .replace("const content", "const body")
          .replace("path, content }", "path, content: body }"),
      });
    });

    it("a name that another handler has is refused, and nobody renames the program alone", async () => {
      assert.deepEqual(await renamed("noteSaved", 2, "nightly"), {
        placeholder: "noteSaved",
        manifest: text,
        program: source,
      });
    });
  });
});

describe("the user's own document, outside of the workspace", () => {
  const uri = vscode.Uri.file(join(process.env["XDG_CONFIG_HOME"] ?? "", "lares", "lares.yaml"));
  let editor: vscode.TextEditor;
  before(async () => {
    await openLares();
    await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode("version: 1\n"));
    editor = await vscode.window.showTextDocument(uri);
  });
  after(async () => {
    await vscode.commands.executeCommand("workbench.action.files.revert");
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
    await vscode.workspace.fs.delete(uri);
  });

  /** Makes it the whole text; answers where `|` stands in it, which is left out. */
  const write = async (text: string): Promise<vscode.Position> => {
    const { document } = editor;
    const all = new vscode.Range(0, 0, document.lineCount, 0);
    await editor.edit((edit) => edit.replace(all, text.replace("|", "")));
    return document.positionAt(Math.max(0, text.indexOf("|")));
  };

  it("is underlined if a route names a missing provider, and if it is in a workspace's document", async () => {
    await write("models: { providers: { lab: { api: ollama } }, routes: { default: lba/x } }\n");
    const found = await until("a diagnostic", () => {
      const all = vscode.languages.getDiagnostics(uri);
      return all.length > 0 && all;
    });
    assert.deepEqual(
      found.map(({ range }) => editor.document.getText(range)),
      ["lba/x"],
    );
  });

  it("is completed and explained", async () => {
    const at = await write("models: { providers: { rehearsal: { api: | } } }\n");
    const list = await vscode.commands.executeCommand<vscode.CompletionList>(
      "vscode.executeCompletionItemProvider",
      uri,
      at,
    );
    const labels = list.items.map(({ label }) => (typeof label === "string" ? label : label.label));
    assert.ok(labels.includes("openai-compatible"), labels.join());
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      "vscode.executeHoverProvider",
      uri,
      await write("egress: { private|_hosts: [nas.lan] }\n"),
    );
    const words = hovers.flatMap(({ contents }) =>
      contents.map((content) => (typeof content === "string" ? content : content.value)),
    );
    assert.match(words.join(), /inside this network/);
  });
});
