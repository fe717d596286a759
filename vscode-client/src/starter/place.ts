import { Uri, window, workspace, type WorkspaceFolder } from "vscode";
import { exists } from "../model/uris.ts";

/** The documents that say what agents may do in a folder, in the order in which the kernel looks for them. */
export const documentNames = ["lares.yaml", "lares.yml", "lares.toml"] as const;

/** Returns a folder's document; undefined if it has none. */
export async function documentIn(folder: Uri): Promise<Uri | undefined> {
  for (const name of documentNames) {
    const uri = Uri.joinPath(folder, name);
    if (await exists(uri)) return uri;
  }
  return undefined;
}

/** Returns the only folder, or asks which one; undefined if the person does not choose, or none is open. */
export async function chosenFolder(question: string): Promise<WorkspaceFolder | undefined> {
  const folders = workspace.workspaceFolders ?? [];
  return folders.length > 1 ? window.showWorkspaceFolderPick({ placeHolder: question }) : folders[0];
}
