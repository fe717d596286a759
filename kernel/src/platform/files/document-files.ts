import { constants } from "node:fs";
import { open, opendir, readdir, realpath, stat } from "node:fs/promises";
import { LaresError, systemCode } from "../../base/errors.ts";
import { decodeUtf8 } from "../../base/utf8.ts";
import { basename, dirname, isWithin, join } from "./paths.ts";

/** Bytes of a document that are read; the parser reports a longer one. */
export const maxDocumentBytes = 1024 * 1024;

export interface DocumentText {
  /** Absolute. */
  readonly file: string;
  readonly text: string;
  /** The text on the disk, if an editor has another text. */
  readonly saved?: string;
}

/**
 * Returns a document's text, cut just beyond the allowed size; null if there is no such file. Bytes that are
 * not UTF-8 are decoded as `decodeUtf8` says, and become faults when the document is parsed.
 */
export async function readText(file: string): Promise<string | null> {
  let handle;
  try {
    // Opening a FIFO or a device must not block the kernel.
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isMissing(error) || isRefused(error)) return null;
    throw new LaresError("StorageError", `${file} cannot be read.`, { path: file }, { cause: error });
  }
  try {
    const found = await handle.stat();
    if (!found.isFile()) return null;
    // One byte more, so that a file that has not grown ends within it.
    let buffer = Buffer.alloc(Math.min(found.size, maxDocumentBytes) + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
      if (length < buffer.length) continue;
      if (length > maxDocumentBytes) break;
      buffer = Buffer.concat([buffer], maxDocumentBytes + 1);
    }
    return decodeUtf8(buffer.subarray(0, length));
  } finally {
    await handle.close();
  }
}

/** The system's clock for files moves in steps; within this time a file may change without another time. */
const settledMs = 1_000;

/** Returns a text that differs after every later change of a file; null if the file was changed just now, or does not exist. */
export async function versionOf(file: string): Promise<string | null> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(file);
    const isSettled = Math.max(mtimeMs, ctimeMs) < Date.now() - settledMs;
    return isSettled ? `${ino} ${size} ${mtimeMs} ${ctimeMs}` : null;
  } catch {
    return null;
  }
}

/** Returns what a path turns out to be, links followed. Locations must stay in the workspace. */
export async function folderState(
  root: string,
  path: string,
): Promise<"folder" | "other" | "missing" | "outside"> {
  try {
    const real = await realpath(join(root, path));
    if (!isWithin(await realpath(root), real)) return "outside";
    return (await stat(real)).isDirectory() ? "folder" : "other";
  } catch (error) {
    if (isMissing(error)) return "missing";
    throw error;
  }
}

/** The number of subfolders that are listed. */
const maxListedFolders = 1000;

/** Returns the names of the folders in a folder, sorted, without hidden ones; none if it cannot be listed. */
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

/** Returns all names in a folder, sorted; none if it cannot be listed. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).toSorted();
  } catch (error) {
    if (isMissing(error) || isRefused(error)) return [];
    throw error;
  }
}

interface NamedEntry {
  readonly name: string;
  /** A link is "other", because it is not followed. */
  readonly kind: "file" | "folder" | "other";
}

/** Returns the entries of a folder, unsorted. Rejects with Node's own error if it cannot be listed. */
export async function entriesIn(folder: string): Promise<NamedEntry[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.map((entry) => ({
    name: entry.name,
    kind: entry.isFile() ? "file" : entry.isDirectory() ? "folder" : "other",
  }));
}

/** Returns the path with links resolved; null if it does not exist or this user may not access it. */
export async function realPathOrNull(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch (error) {
    if (isMissing(error) || isRefused(error)) return null;
    throw error;
  }
}

/** Resolves links in the existing part of the path; the rest is appended unchanged. */
export async function realPathOf(absolute: string): Promise<string> {
  let rest = "";
  for (let path = absolute; ; path = dirname(path)) {
    try {
      return join(await realpath(path), rest);
    } catch (error) {
      const code = systemCode(error);
      // A circular link or an inaccessible place has no other known name.
      if (!["ENOENT", "ENOTDIR"].includes(code) || dirname(path) === path) return absolute;
      rest = join(basename(path), rest);
    }
  }
}

/** Returns true if there is a file or a folder, following links; false if access is refused. */
export async function fileOrFolderExists(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile() || found.isDirectory(),
    () => false,
  );
}

export async function fileExists(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Returns whether the system refused access to this user. */
export function isRefused(error: unknown): boolean {
  const code = systemCode(error);
  return code === "EACCES" || code === "EPERM";
}

export function isMissing(error: unknown): boolean {
  const code = systemCode(error);
  return code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP";
}
