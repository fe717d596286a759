import { isJsonObject } from "../../base/json.ts";

export interface WorkspaceRoots {
  /** Absolute paths, in the client's order, each once. */
  readonly roots: readonly string[];
  /** What the client named and cannot be used, one sentence each. */
  readonly refused: readonly string[];
}

/** The folders that an `initialize` request names: `workspaceFolders`, else `rootUri`, else the older `rootPath`. */
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

/** The absolute path that a `file:` URI names; null for another scheme, another machine, or an impossible path. */
export function pathOfFileUri(uri: string, platform: string): string | null {
  const match = /^file:(?:\/\/([^/]*))?(\/[^?#]*)/i.exec(uri);
  if (!match) return null;
  const [, host = "", encoded = ""] = match;
  let path: string;
  try {
    path = decodeURIComponent(encoded);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
  if (path.includes("\0") || /%2f/i.test(encoded)) return null;
  const isLocal = host === "" || host.toLowerCase() === "localhost";
  if (platform === "win32") return windowsPath(path, isLocal ? "" : host);
  if (!isLocal) return null;
  return path.length > 1 ? path.replace(/\/+$/, "") || "/" : path;
}

function windowsPath(path: string, host: string): string | null {
  if (host !== "") return `\\\\${host}${path.replaceAll("/", "\\")}`;
  const drive = /^\/([A-Za-z]):(\/.*)?$/.exec(path);
  if (!drive) return null;
  const rest = (drive[2] ?? "/").replace(/(?<=.)\/+$/, "");
  return `${drive[1]?.toUpperCase()}:${rest.replaceAll("/", "\\")}`;
}
