import type { Entry, EntryQuery } from "../base/vocabulary/entry.ts";
import { invalidParams, isLaresError } from "../base/errors.ts";
import { canonicalPath } from "../policy/paths.ts";
import { fileToolBounds as bounds } from "./bounds.ts";
import { missingError } from "./missing.ts";
import { globBeneath, jsonBytes } from "./names.ts";
import type { FilesOfCall } from "./ports.ts";

export interface ListArguments {
  readonly path?: string;
  readonly glob?: string;
  readonly limit?: number;
}

type Listed =
  | { readonly path: string; readonly kind: "folder" }
  | { readonly path: string; readonly kind: "file"; readonly size: number };

/** The result of `files/list`, in path order. */
export interface ListResult {
  readonly entries: readonly Listed[];
  /** Entries that are not listed. */
  readonly note?: string;
}

/** Returns files and folders beneath a folder. Throws NotFound, and InvalidParams for an invalid glob. */
export async function listFiles(
  files: FilesOfCall,
  { path = ".", glob = "*", limit = bounds.listByDefault }: ListArguments,
): Promise<ListResult> {
  const folder = await checkedFolder(files, path);
  if (folder === "." && glob === "*" && files.roots.length > 0) return { entries: await shownRoots(files) };
  const query = { path: globBeneath(folder, glob) };
  const page = await files.query({ ...query, limit });
  if (page.items.length === 0) await checkIsFolder(files, folder);
  const entries: Listed[] = [];
  let bytes = 0;
  for (const entry of page.items) {
    const listed = listedOf(entry);
    bytes += jsonBytes(listed);
    if (bytes > bounds.itemsBytes) break;
    entries.push(listed);
    files.show({ path: entry.path, listed: entry.content_id });
  }
  const isMore = page.cursor !== undefined || entries.length < page.items.length;
  return isMore ? { entries, note: await moreNote(files, query, entries.length) } : { entries };
}

/** Returns the path in canonical form. Throws what reading it throws, if it has none. */
export async function checkedFolder(files: Pick<FilesOfCall, "get">, path: string): Promise<string> {
  const canonical = canonicalPath(path);
  if (canonical.ok) return canonical.path;
  // Policy refuses it, in its own words.
  await files.get(path);
  throw invalidParams(`The path ${JSON.stringify(path)} ${canonical.reason}.`, { path: "path" });
}

function listedOf({ path, kind, size }: Entry): Listed {
  return kind === "folder" ? { path, kind } : { path, kind, size };
}

/** Returns the root folders in which the process sees something. */
async function shownRoots(files: FilesOfCall): Promise<Listed[]> {
  const shown: Listed[] = [];
  for (const path of files.roots) {
    const { items } = await files.query({ path: globBeneath(path, "**"), limit: 1 });
    if (items.length > 0) shown.push({ path, kind: "folder" });
  }
  return shown;
}

/** Returns null for a folder. Throws NotFound if the process sees nothing there. */
export async function fileAt(files: FilesOfCall, path: string): Promise<Entry | null> {
  if (path === "." || files.roots.includes(path)) return null;
  const entry = await files.get(path);
  if (entry === null) throw await missingError(files, "file or folder", path);
  return entry.kind === "file" ? entry : null;
}

async function checkIsFolder(files: FilesOfCall, path: string): Promise<void> {
  if ((await fileAt(files, path)) !== null)
    throw invalidParams(`${JSON.stringify(path)} is a file. Use files/read.`, { path: "path" });
}

async function moreNote(files: FilesOfCall, query: EntryQuery, listed: number): Promise<string> {
  const how = "Use a narrower glob, a folder beneath, or a higher limit.";
  try {
    const more = (await files.count(query)) - listed;
    return `${more.toLocaleString("en")} more are not listed. ${how}`;
  } catch (error) {
    if (!isLaresError(error, "LimitExceeded")) throw error;
    return `More are not listed. ${how}`;
  }
}
