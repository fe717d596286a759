import { constants } from "node:fs";
import { open, opendir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { LaresError } from "../base/errors.ts";
import { decodeUtf8 } from "../base/utf8.ts";

/** Documents are read up to this size; the parser says so to whoever wrote a longer one. */
export const maxDocumentBytes = 1024 * 1024;

export interface DocumentText {
  /** Absolute. */
  readonly file: string;
  readonly text: string;
  /** The text on the disk, if an editor has another text. */
  readonly saved?: string;
}

/** The first of the names that exists in the folder; null where none does. */
export async function readFirst(folder: string, names: readonly string[]): Promise<DocumentText | null> {
  for (const name of names) {
    const file = join(folder, name);
    const text = await readText(file);
    if (text !== null) return { file, text };
  }
  return null;
}

/**
 * Returns a document's text, cut just beyond the size that is allowed; null where there is no such file. Bytes that are
 * not UTF-8 stand in it as `decodeUtf8` says, and become faults where the document is parsed.
 */
export async function readText(file: string): Promise<string | null> {
  let handle;
  try {
    // A fifo or a device in a document's place must not hold the kernel up.
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isMissing(error) || isRefused(error)) return null;
    throw new LaresError("StorageError", `${file} cannot be read.`, { path: file }, { cause: error });
  }
  try {
    if (!(await handle.stat()).isFile()) return null;
    const buffer = Buffer.alloc(maxDocumentBytes + 1);
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return decodeUtf8(buffer.subarray(0, length));
  } finally {
    await handle.close();
  }
}

/** What a path turns out to be, links followed: for locations, which must stay in the workspace. */
export async function folderState(
  root: string,
  path: string,
): Promise<"folder" | "other" | "missing" | "outside"> {
  try {
    const real = await realpath(join(root, path));
    const realRoot = await realpath(root);
    if (real !== realRoot && !real.startsWith(`${realRoot}/`) && !real.startsWith(`${realRoot}\\`))
      return "outside";
    return (await stat(real)).isDirectory() ? "folder" : "other";
  } catch (error) {
    if (isMissing(error)) return "missing";
    throw error;
  }
}

/** Folders of one folder that are listed. */
export const maxListedFolders = 1000;

/** Names of the folders in a folder, sorted, without those that begin with a dot; empty where it cannot be listed. */
export async function listFolders(folder: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const entry of await opendir(folder)) {
      if (entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== "node_modules")
        names.push(entry.name);
      if (names.length >= maxListedFolders) break;
    }
  } catch (error) {
    if (!isMissing(error) && !isRefused(error)) throw error;
  }
  return names.toSorted();
}

export async function fileExists(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** The system says that this user may not. */
export function isRefused(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return code === "EACCES" || code === "EPERM";
}

export function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP";
}
