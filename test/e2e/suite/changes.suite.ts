import assert from "node:assert/strict";
import { before, describe, it } from "mocha";
import * as vscode from "vscode";
import { until } from "../../support/until.ts";
import { type LaresApi, openLares, readText, workspaceUri, writeText } from "./lares.ts";

const note = "notes/shown.md";
const untitled = "bread\n";

describe("what an agent would change", () => {
  let lares: LaresApi;
  before(async () => {
    lares = await openLares();
  });

  const pending = () =>
    lares.models.actions.pending.find(({ effects }) => effects.some(({ path }) => path === note));
  const diff = (): vscode.TabInputTextDiff | undefined => {
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    return input instanceof vscode.TabInputTextDiff ? input : undefined;
  };

  it("is shown as a diff between the file itself and what it would be", async () => {
    await writeText(note, untitled);
    const action = await until("a proposal for the note", pending);
    await vscode.commands.executeCommand("lares.showChanges", { id: action.id });
    const { original, modified } = await until("the diff", diff);
    assert.equal(original.toString(), workspaceUri(note).toString());
    assert.equal(modified.scheme, "lares-change");
    const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(modified));
    assert.equal(text, `# shown\n\n${untitled}`);
    await assert.rejects(async () => vscode.workspace.fs.writeFile(modified, new Uint8Array()));
    const title = vscode.window.tabGroups.activeTabGroup.activeTab?.label;
    assert.equal(title, "shown.md (Lares: Give shown.md a title)");
  });

  it("is approved in the diff's title, and undone there", async () => {
    await vscode.commands.executeCommand("lares.approveShown");
    await until("the change on disk", async () => (await readText(note)) !== untitled);
    await until("it to be known as done", () =>
      lares.models.actions.recent.some(
        ({ state, effects }) => state === "Committed" && effects.some(({ path }) => path === note),
      ),
    );
    await vscode.commands.executeCommand("lares.undoShown");
    await until("the old text on disk", async () => (await readText(note)) === untitled);
  });

  it("says that it is out of date, once it turns out to be, and stays as it was proposed", async () => {
    const other = "notes/moved-on.md";
    await writeText(other, untitled);
    const waiting = await until("a proposal for the note", () =>
      lares.models.actions.pending.find(({ effects }) => effects.some(({ path }) => path === other)),
    );
    await vscode.commands.executeCommand("lares.showChanges", { id: waiting.id });
    const title = (): string => vscode.window.tabGroups.activeTabGroup.activeTab?.label ?? "";
    await until("the diff", () => title().startsWith("moved-on.md (Lares:"));
    await writeText(other, "wine\n");
    await vscode.commands.executeCommand("lares.approveShown");
    // The agent makes a new proposal for the new text, which replaces this one.
    const outdated = /^(?:Out of date|Replaced)/;
    await until("the title to say so", () => outdated.test(title()));
    // Frozen: beside the text that it was made for, whatever happens to the file.
    const frozen = (query: RegExp): string | undefined =>
      vscode.workspace.textDocuments
        .find(({ uri }) => uri.scheme === "lares-change" && query.test(uri.query))
        ?.getText();
    const of = (side: string): RegExp => new RegExp(`^${waiting.id}.*/${side}$`);
    await until("what became of it, beside it", () => outdated.test(frozen(of("about")) ?? ""));
    assert.equal(await until("the text that it was made for", () => frozen(of("before"))), untitled);
    assert.equal(await readText(other), "wine\n");
  });
});
