import assert from "node:assert/strict";
import { before, describe, it } from "mocha";
import * as vscode from "vscode";
import { until } from "../../support/until.ts";
import { type LaresApi, openLares, readText, show, workspaceUri, writeText } from "./lares.ts";

const note = "notes/groceries.md";
const untitled = "bread\n";
const titled = "# groceries\n\nbread\n";

describe("a change waits for a person", () => {
  let lares: LaresApi;
  before(async () => {
    lares = await openLares();
  });

  const pending = () =>
    until("a proposal for the note", () =>
      lares.models.actions.pending.find(({ effects }) => effects.some(({ path }) => path === note)),
    );
  const lenses = async (): Promise<readonly vscode.Command[]> => {
    const found = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      "vscode.executeCodeLensProvider",
      workspaceUri(note),
    );
    return found.flatMap(({ command }) => command ?? []);
  };
  const lens = (title: string): Promise<vscode.Command> =>
    until(`a lens ${title}`, async () => (await lenses()).find((command) => command.title === title));
  const execute = ({ command, arguments: given = [] }: vscode.Command): Thenable<unknown> =>
    vscode.commands.executeCommand(command, ...(given as unknown[]));

  it("is proposed once the file is saved, and touches nothing", async () => {
    await writeText(note, untitled);
    const action = await pending();
    assert.equal(action.title, "Give groceries.md a title");
    assert.equal(await readText(note), untitled);
  });

  it("is not made under an editor with unsaved changes", async () => {
    const editor = await show(note);
    await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), "fresh "));
    const { id, digest } = await pending();
    const { state, error } = await lares.kernel.request("lares/actions/approve", { id, digest });
    assert.notEqual(state, "Committed");
    assert.match(error ?? "", /unsaved/);
    assert.equal(await readText(note), untitled);
    await vscode.commands.executeCommand("workbench.action.files.revert");
    assert.equal(editor.document.isDirty, false);
    assert.equal(editor.document.getText(), untitled);
  });

  it("is shown above the line where it would happen, and made when it is approved there", async () => {
    const other = await lares.kernel.request("lares/tools/call", {
      agent: "com.example.titles",
      name: "propose",
      arguments: { path: note },
    });
    assert.equal(other.status, "success");
    await pending();
    await show(note);
    await execute(await lens("Approve"));
    await until("the change on disk", async () => (await readText(note)) === titled);
    await until("the lens to go", async () => (await lenses()).every(({ title }) => title !== "Approve"));
  });

  it("is undone", async () => {
    const done = await until("it among the recent ones", () =>
      lares.models.actions.recent.find(
        ({ state, effects }) => state === "Committed" && effects.some(({ path }) => path === note),
      ),
    );
    await vscode.commands.executeCommand("lares.action.undo", { id: done.id });
    await until("the old text on disk", async () => (await readText(note)) === untitled);
  });
});
