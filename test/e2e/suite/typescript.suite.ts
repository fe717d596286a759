import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { after, before, describe, it } from "mocha";
import * as vscode from "vscode";
import { until } from "../../support/until.ts";
import { show, workspaceUri, writeText } from "./lares.ts";

const drafts = "drafts";
const fault = 'export const fault: number = "none";\n';
const notAssignable = 2322;

describe("an agent's program in a workspace without the SDK", () => {
  before(async () => {
    const repository = join(extension().extensionUri.fsPath, "..");
    await vscode.workspace.fs.createDirectory(workspaceUri(drafts));
    // The editor's own Node is older than the kernel's.
    const node = join(repository, "node_modules", ".bin", "node");
    execFileSync(node, [join(repository, "kernel", "bin", "lares.js"), "new", "./fresh"], {
      cwd: workspaceUri(drafts).fsPath,
    });
    const notes = vscode.Uri.file(join(repository, "extensions", "notes"));
    await vscode.workspace.fs.copy(notes, workspaceUri(`${drafts}/notes`));
  });
  after(async () => {
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
    await vscode.workspace.fs.delete(workspaceUri(drafts), { recursive: true });
  });

  for (const [name, program] of [
    ["that lares new makes", `${drafts}/fresh/agent.ts`],
    ["of the first-party extension that the starter names", `${drafts}/notes/agent.ts`],
  ] as const)
    it(`${name} has no fault but one that is made, and then none`, async () => {
      const editor = await show(program);
      const end = editor.document.lineCount;
      await editor.edit((edit) => edit.insert(new vscode.Position(end, 0), fault));
      await until("the fault alone", () => String(faultsIn(program)) === String([notAssignable]));
      await vscode.commands.executeCommand("undo");
      await until("no fault", () => faultsIn(program).length === 0);
      assert.equal(editor.document.isDirty, false);
    });

  it("is completed with what its context has", async () => {
    const program = `${drafts}/fresh/agent.ts`;
    const { document } = await show(program);
    const at = document.positionAt(document.getText().indexOf("ctx.memory") + "ctx.".length);
    const labels = await until("a completion", async () => {
      const { items } = await vscode.commands.executeCommand<vscode.CompletionList>(
        "vscode.executeCompletionItemProvider",
        workspaceUri(program),
        at,
      );
      const found = items.map(({ label }) => (typeof label === "string" ? label : label.label));
      return found.includes("vdfs") && found;
    });
    assert.ok(labels.includes("memory"), labels.join());
  });

  it("knows the sandbox's globals and neither a browser's nor Node's", async () => {
    const program = `${drafts}/fresh/globals.ts`;
    const known =
      "setTimeout(() => console.log(crypto.randomUUID(), new URL('a:b'), performance.now()), 1);\n";
    await writeText(
      program,
      `${known}structuredClone(new AbortController().signal);\nalert(1);\nprocess.cwd();\n`,
    );
    await show(program);
    await until("two faults", () => String(faultLinesIn(program)) === String([2, 3]));
  });

  it("leaves files outside of extensions as they are, beside programs that are open", async () => {
    const loose = `${drafts}/loose.ts`;
    await writeText(
      loose,
      `import "@lares/sdk";\nimport { titled } from "./none.ts";\nalert(titled);\n${fault}`,
    );
    await show(loose);
    // The browser's `alert` is known here, and the SDK is not.
    await until("its own faults", () => String(faultLinesIn(loose)) === String([0, 1, 3]));
  });
});

function extension(): vscode.Extension<unknown> {
  const found = vscode.extensions.getExtension("lares.lares-vscode");
  if (found === undefined) throw new Error("The extension is not there.");
  return found;
}

function errorsIn(path: string): vscode.Diagnostic[] {
  return vscode.languages
    .getDiagnostics(workspaceUri(path))
    .filter(({ severity }) => severity === vscode.DiagnosticSeverity.Error);
}

function faultsIn(path: string): unknown[] {
  return errorsIn(path).map(({ code }) => code);
}

function faultLinesIn(path: string): number[] {
  return errorsIn(path)
    .map(({ range }) => range.start.line)
    .toSorted((one, other) => one - other);
}
