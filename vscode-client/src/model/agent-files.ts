import { FileSystemError, Uri, workspace } from "vscode";
import { pathOf } from "./uris.ts";

const manifests = ["extension.yaml", "extension.yml", "extension.toml"];
export const maxManifestBytes = 256 * 1024;
/** Folders above a file that are searched for a manifest. */
const maxLevels = 12;
/** The blanks at the beginning are those of one line, so that none is read again for another line. */
const idLine =
  /^[^\S\n\r\u2028\u2029]*["']?id["']?\s*[:=]\s*["']?([A-Za-z0-9][\w.-]{0,255})["']?\s*(?:#.*)?$/m;

/**
 * Returns the id in the nearest manifest: in the file's folder or in one above it, inside the workspace. Returns undefined
 * if no folder has one.
 */
export async function agentOfFile(uri: Uri): Promise<string | undefined> {
  let path = pathOf(uri);
  let folder = uri;
  for (let level = 0; path !== undefined && level < maxLevels; level++) {
    folder = parentOf(folder);
    for (const name of manifests) {
      const id = await idIn(Uri.joinPath(folder, name));
      if (id !== undefined) return id;
    }
    // The folder of the workspace itself is the last one.
    path = pathOf(folder);
  }
  return undefined;
}

function parentOf(uri: Uri): Uri {
  return uri.with({ path: uri.path.slice(0, Math.max(1, uri.path.lastIndexOf("/"))) });
}

async function idIn(manifest: Uri): Promise<string | undefined> {
  try {
    const { size } = await workspace.fs.stat(manifest);
    if (size > maxManifestBytes) return undefined;
    return idLine.exec(new TextDecoder().decode(await workspace.fs.readFile(manifest)))?.[1];
  } catch (error) {
    if (error instanceof FileSystemError && error.code === "FileNotFound") return undefined;
    throw error;
  }
}
