import { createHash } from "node:crypto";
import { FileSystemError, workspace, type Uri } from "vscode";
import type { Effect } from "../protocol.ts";
import { maxShownBytes } from "./content.ts";

/** Whether a file has the content that an effect starts from; a large one is not looked at, and counts as changed. */
export async function isUnchanged(file: Uri, before: NonNullable<Effect["before"]>): Promise<boolean> {
  try {
    if ((await workspace.fs.stat(file)).size > maxShownBytes) return false;
    const content = await workspace.fs.readFile(file);
    return `sha256:${createHash("sha256").update(content).digest("hex")}` === before;
  } catch (error) {
    if (error instanceof FileSystemError) return false;
    throw error;
  }
}

export async function exists(file: Uri): Promise<boolean> {
  try {
    await workspace.fs.stat(file);
    return true;
  } catch (error) {
    if (error instanceof FileSystemError) return false;
    throw error;
  }
}
