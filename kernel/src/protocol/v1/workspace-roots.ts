import { pathOfFileUri } from "../../base/file-uri.ts";
import { isJsonObject } from "../../base/json.ts";

interface WorkspaceRoots {
  /** Absolute paths, in the client's order, each once. */
  readonly roots: readonly string[];
  /** Folders that the client named and that cannot be used, one message each. */
  readonly refused: readonly string[];
}

/**
 * Returns the folders that an `initialize` request names: `workspaceFolders`, else `rootUri`, else the older
 * `rootPath`.
 */
export function workspaceRootsOf(initializeParams: unknown, platform: string): WorkspaceRoots {
  const params = isJsonObject(initializeParams) ? initializeParams : {};
  const folders = Array.isArray(params["workspaceFolders"]) ? params["workspaceFolders"] : [];
  const uris = folders.map((folder: unknown) => (isJsonObject(folder) ? folder["uri"] : folder));
  const roots = new Set<string>();
  const refused: string[] = [];
  for (const uri of uris.length > 0 ? uris : [params["rootUri"]]) {
    if (uri === null || uri === undefined) continue;
    const path = typeof uri === "string" ? pathOfFileUri(uri, platform) : null;
    if (path === null)
      refused.push(
        `The workspace folder ${JSON.stringify(uri)?.slice(0, 200)} is not a file: URI of this machine.`,
      );
    else roots.add(path);
  }
  const rootPath = params["rootPath"];
  if (roots.size === 0 && refused.length === 0 && typeof rootPath === "string" && rootPath !== "")
    roots.add(rootPath);
  return { roots: [...roots], refused };
}
