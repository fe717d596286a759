import assert from "node:assert/strict";
import process from "node:process";
import { before, describe, it } from "mocha";
import * as vscode from "vscode";
import { isAlive, until } from "../../support/until.ts";
import { type LaresApi, openLares, workspaceUri, writeText } from "./lares.ts";

const extension = (): vscode.Extension<unknown> => {
  const found = vscode.extensions.getExtension("lares.lares-vscode");
  if (found === undefined) throw new Error("The extension is not there.");
  return found;
};

/** The authority of a window on another machine than the files; absent in a desktop's local window. */
const authority = process.env["LARES_E2E_AUTHORITY"];

describe("a window on another machine than the files", () => {
  let lares: LaresApi;
  before(async function () {
    if (authority === undefined) this.skip();
    lares = await openLares();
  });

  it("has the extension beside the files, and the kernel, too", async () => {
    assert.notEqual(vscode.env.remoteName, undefined);
    assert.equal(extension().extensionKind, vscode.ExtensionKind.Workspace);
    const { pid, workspace } = await lares.kernel.request("lares/status", {});
    assert.equal(isAlive(pid), true);
    assert.equal(workspace, workspaceUri("").fsPath.replace(/\/$/, ""));
  });

  it("knows a file by an address of its own, which is the same file here", async () => {
    const note = "notes/far.md";
    await writeText(note, "bread\n");
    await until("a proposal for it", () =>
      lares.models.actions.pending.some(({ effects }) => effects.some(({ path }) => path === note)),
    );
    const { path } = workspaceUri(note);
    await vscode.commands.executeCommand(
      "vscode.open",
      vscode.Uri.from({ scheme: "vscode-remote", authority: authority ?? "", path }),
    );
    const editor = await until("the editor", () => {
      const active = vscode.window.activeTextEditor;
      return active?.document.uri.path === path && active;
    });
    assert.equal(editor.document.uri.toString(), workspaceUri(note).toString());
    await until("its lenses", async () => {
      const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
        "vscode.executeCodeLensProvider",
        editor.document.uri,
      );
      return lenses.some(({ command }) => command?.title === "Approve");
    });
  });

  it("is served the pages' scripts by the editor, for it cannot read files here", () => {
    const panel = vscode.window.createWebviewPanel("lares.test", "Test", vscode.ViewColumn.Beside);
    try {
      const script = vscode.Uri.joinPath(extension().extensionUri, "dist/webviews/memory.js");
      assert.equal(script.scheme, "file");
      const served = panel.webview.asWebviewUri(script);
      assert.match(served.scheme, /^https?$/);
      assert.match(served.authority, /vscode-remote/);
    } finally {
      panel.dispose();
    }
  });
});
