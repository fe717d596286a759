import { realpathSync } from "node:fs";
import { FileSystemError, Uri, workspace } from "vscode";
import { locate, namedFolders, pathWithin, type NamedFolder } from "./workspace-uris.ts";

/**
 * Returns the location of a kernel path ("notes/a.md", or "<folder>/notes/a.md" if the workspace has several folders);
 * undefined if it names none of them.
 */
export function uriOf(path: string): Uri | undefined {
  const place = locate(folders(), path);
  if (place === null) return undefined;
  // A path that leaves its folder does not come from the kernel.
  if (place.inner.split("/").includes("..")) return undefined;
  return Uri.joinPath(place.uri, place.inner);
}

/** Returns the kernel's path of a file; undefined if it is not in the workspace. */
export function pathOf(uri: Uri): string | undefined {
  if (uri.scheme !== "file") return undefined;
  return pathWithin(folders(), (folder) =>
    uri.path.startsWith(`${folder.path.replace(/\/$/, "")}/`)
      ? uri.path.slice(folder.path.replace(/\/$/, "").length + 1)
      : undefined,
  );
}

let known: { readonly key: string; readonly folders: readonly NamedFolder<Uri>[] } = { key: "", folders: [] };

/** Computed again when the workspace's folders change. */
function folders(): readonly NamedFolder<Uri>[] {
  const uris = (workspace.workspaceFolders ?? [])
    .map(({ uri }) => uri)
    .filter(({ scheme }) => scheme === "file");
  const key = uris.map(String).join("\n");
  if (key !== known.key) known = { key, folders: namedFolders(uris, realPathOf) };
  return known.folders;
}

function realPathOf({ fsPath }: Uri): string {
  try {
    return realpathSync.native(fsPath);
  } catch {
    // The kernel reports that the folder is missing or inaccessible.
    return fsPath;
  }
}

/** Returns the location of a file by its path on this machine; undefined if it is not in the workspace. */
export function fileInWorkspace(path: string): Uri | undefined {
  if (path.split(/[/\\]/).includes("..")) return undefined;
  for (const { uri } of folders()) {
    for (const folder of new Set([Uri.file(realPathOf(uri)), uri])) {
      const prefix = `${folder.path.replace(/\/$/, "")}/`;
      const file = Uri.file(path);
      if (file.path.startsWith(prefix)) return Uri.joinPath(uri, file.path.slice(prefix.length));
    }
  }
  return undefined;
}

/** Returns true if a file or folder exists at this location. */
export async function exists(uri: Uri): Promise<boolean> {
  try {
    await workspace.fs.stat(uri);
    return true;
  } catch (error) {
    if (error instanceof FileSystemError && error.code === "FileNotFound") return false;
    throw error;
  }
}
