import * as vscode from "vscode";
import type { LaresApi } from "../../../vscode-client/src/extension.ts";
import { until } from "../../support/until.ts";

export type { LaresApi };

/** Returns the active extension, in a workspace whose documents were accepted, with its agents running. */
export async function openLares(): Promise<LaresApi> {
  const extension = vscode.extensions.getExtension<LaresApi>("lares.lares-vscode");
  if (extension === undefined) throw new Error("The extension is not there.");
  const lares = await extension.activate();
  const status = await until("the kernel", () => lares.models.status.current);
  if (status.trust.pending.length > 0)
    await lares.kernel.request("lares/trust", { trusted: true, digest: status.trust.digest });
  await until("the kernel to be ready", async () => (await lares.kernel.request("lares/status", {})).ready);
  return lares;
}

export function workspaceUri(path: string): vscode.Uri {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (folder === undefined) throw new Error("No folder is open.");
  return vscode.Uri.joinPath(folder.uri, path);
}

export async function readText(path: string): Promise<string> {
  return new TextDecoder().decode(await vscode.workspace.fs.readFile(workspaceUri(path)));
}

export async function writeText(path: string, text: string): Promise<void> {
  await vscode.workspace.fs.writeFile(workspaceUri(path), new TextEncoder().encode(text));
}

/** Opens a file in an editor. */
export async function show(path: string): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(await vscode.workspace.openTextDocument(workspaceUri(path)));
}
