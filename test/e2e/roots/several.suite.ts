import assert from "node:assert/strict";
import { before, describe, it } from "mocha";
import * as vscode from "vscode";
import { until } from "../../support/until.ts";
import { type LaresApi, openLares } from "../suite/lares.ts";

const note = "notes/second.md";
const untitled = "bread\n";

function uriIn(root: string, path: string): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.find(({ name }) => name === root);
  if (folder === undefined) throw new Error(`No folder ${root} is open.`);
  return vscode.Uri.joinPath(folder.uri, path);
}

const textOf = async (uri: vscode.Uri): Promise<string> =>
  new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));

describe("a workspace of two folders", () => {
  let lares: LaresApi;
  before(async () => {
    lares = await openLares();
  });

  const proposal = () =>
    until("a proposal in the second folder", () =>
      lares.models.actions.pending.find(({ effects }) => effects.some(({ path }) => path === `two/${note}`)),
    );
  const faultsOf = (uri: vscode.Uri): string[] =>
    vscode.languages
      .getDiagnostics(uri)
      .map(({ code }) => `${typeof code === "object" ? code.value : (code ?? "")}`);

  it("has the agents of both", async () => {
    assert.deepEqual(
      (vscode.workspace.workspaceFolders ?? []).map(({ name }) => name),
      ["one", "two"],
    );
    for (const id of ["com.example.titles", "com.example.second"])
      await until(id, () => lares.models.agents.get(id));
  });

  it("shows a change in the second folder beside the file there", async () => {
    await vscode.workspace.fs.writeFile(uriIn("two", note), new TextEncoder().encode(untitled));
    const { id, agent } = await proposal();
    assert.equal(agent, "com.example.second");
    await vscode.commands.executeCommand("lares.showChanges", { id });
    const input = await until("the diff", () => {
      const shown = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
      return shown instanceof vscode.TabInputTextDiff && shown;
    });
    assert.equal(input.original.toString(), uriIn("two", note).toString());
    assert.equal(await textOf(input.modified), `# second\n\n${untitled}`);
  });

  it("makes it when it is approved above its line", async () => {
    await vscode.window.showTextDocument(uriIn("two", note));
    const approve = await until("the lens", async () => {
      const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
        "vscode.executeCodeLensProvider",
        uriIn("two", note),
      );
      return lenses.flatMap(({ command }) => command ?? []).find(({ title }) => title === "Approve");
    });
    await vscode.commands.executeCommand(approve.command, ...((approve.arguments ?? []) as unknown[]));
    await until("the change on disk", async () => (await textOf(uriIn("two", note))) !== untitled);
    assert.equal(await textOf(uriIn("two", note)), `# second\n\n${untitled}`);
  });

  it("checks the documents of both, and says which of the two does not count", async () => {
    await vscode.window.showTextDocument(uriIn("two", "lares.yaml"));
    await until("the word", () => faultsOf(uriIn("two", "lares.yaml")).includes("document-not-counted"));

    const manifest = uriIn("two", ".lares/extensions/second/extension.yaml");
    const text = await textOf(manifest);
    await vscode.window.showTextDocument(manifest);
    const wrong = text.replace("EntryCreated", "EntryCreatd");
    await vscode.workspace.fs.writeFile(manifest, new TextEncoder().encode(wrong));
    await until("the fault", () => faultsOf(manifest).length > 0);
    await vscode.workspace.fs.writeFile(manifest, new TextEncoder().encode(text));
    await until("it to go", () => faultsOf(manifest).length === 0);

    const counting = uriIn("one", "lares.yaml");
    const editor = await vscode.window.showTextDocument(counting);
    await editor.edit((edit) => edit.insert(new vscode.Position(editor.document.lineCount, 0), "wrong: 1\n"));
    await until("the only fault", () => faultsOf(counting).length === 1);
    await vscode.commands.executeCommand("workbench.action.files.revert");
    await until("none", () => faultsOf(counting).length === 0);
  });
});
