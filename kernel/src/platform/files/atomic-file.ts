import { randomBytes } from "node:crypto";
import { type FileHandle, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { failpoint } from "../failpoint.ts";

const temporaryName = /^\..+\.[0-9a-f]{12}\.tmp$/;

/** True for the name of a file that `writeFileAtomically` left behind when its process died: safe to remove. */
function isLeftoverTemporary(name: string): boolean {
  return temporaryName.test(name);
}

/**
 * Removes what `writeFileAtomically` left behind in a folder, of the files whose names begin with `prefix`. Only for
 * whoever alone writes there.
 */
export async function removeLeftoverTemporaries(folder: string, prefix = ""): Promise<void> {
  for (const name of await readdir(folder)) {
    if (isLeftoverTemporary(name) && name.startsWith(`.${prefix}`))
      await rm(join(folder, name), { force: true });
  }
}

/**
 * Replaces the file at `path` (or makes it) so that whoever reads it, also after a power cut, finds either
 * the old bytes or the new ones whole: temporary file, fsync, rename, fsync of the folder.
 * Resolves when the new content is durable. Mode 0600 unless told. Rejects with node's own errors.
 */
export function writeFileAtomically(
  path: string,
  bytes: Uint8Array | string,
  options: { readonly mode?: number } = {},
): Promise<void> {
  return replaceFileAtomically(path, (file) => file.writeFile(bytes), options);
}

/**
 * The same for content that is written piece by piece. `beforeRename` runs when the new bytes are durable under
 * their temporary name; what it throws leaves the old file in place.
 */
export async function replaceFileAtomically(
  path: string,
  write: (file: FileHandle) => Promise<unknown>,
  options: { readonly mode?: number; readonly beforeRename?: () => Promise<void> } = {},
): Promise<void> {
  const folder = dirname(path);
  const temporary = temporaryPathFor(path);
  try {
    // "wx": never through a link that somebody placed under our temporary name.
    await using file = await open(temporary, "wx", options.mode ?? 0o600);
    failpoint("atomic-file.created");
    await write(file);
    failpoint("atomic-file.written");
    await file.sync();
    failpoint("atomic-file.synced");
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  try {
    await options.beforeRename?.();
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  failpoint("atomic-file.renamed");
  await syncFolder(folder);
  failpoint("atomic-file.folder-synced");
}

/** A name beside `path` that nobody has yet, and that `removeLeftoverTemporaries` removes. */
export function temporaryPathFor(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
}

/** Makes names in a folder durable (what was created, renamed or removed in it). */
export async function syncFolder(folder: string): Promise<void> {
  // Windows opens no folders; NTFS journals the rename itself.
  if (process.platform === "win32") return;
  await using handle = await open(folder, "r");
  await handle.sync();
}
