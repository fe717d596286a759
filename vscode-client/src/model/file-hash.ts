import { createHash } from "node:crypto";
import { FileSystemError, FileType, workspace } from "vscode";
import type { HashOf } from "./drift.ts";
import { uriOf } from "./uris.ts";

/** Larger files are not read here; the kernel knows. */
const maxBytes = 10 * 1024 * 1024;

/** Of a file of the workspace, by the kernel's path. */
export const hashOfFile: HashOf = async (path) => {
  const uri = uriOf(path);
  if (uri === undefined) return undefined;
  try {
    const { type, size } = await workspace.fs.stat(uri);
    if (type !== FileType.File || size > maxBytes) return undefined;
    return `sha256:${createHash("sha256")
      .update(await workspace.fs.readFile(uri))
      .digest("hex")}`;
  } catch (error) {
    if (error instanceof FileSystemError) return error.code === "FileNotFound" ? null : undefined;
    throw error;
  }
};
