import { FileSystemError, Uri, workspace } from "vscode";
import { locate, namedFolders } from "./workspace-uris.ts";

/**
 * Where a path of the kernel's lies ("notes/a.md", or "<folder>/notes/a.md" where the workspace has several
 * folders); undefined where it names none of them.
 */
export function uriOf(path: string): Uri | undefined {
  const place = locate(namedFolders(folderUris()), path);
  if (place === null) return undefined;
  // A path that leaves its folder is not one of the kernel's.
  if (place.inner.split("/").includes("..")) return undefined;
  return Uri.joinPath(place.uri, place.inner);
}

function folderUris(): Uri[] {
  return (workspace.workspaceFolders ?? []).map(({ uri }) => uri).filter(({ scheme }) => scheme === "file");
}

/** Whether there is something at this place. */
export async function exists(uri: Uri): Promise<boolean> {
  try {
    await workspace.fs.stat(uri);
    return true;
  } catch (error) {
    if (error instanceof FileSystemError && error.code === "FileNotFound") return false;
    throw error;
  }
}
