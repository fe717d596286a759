import { randomBytes } from "node:crypto";
import { type FileHandle, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { failpoint } from "../failpoint.ts";

const temporaryName = /^\..+\.[0-9a-f]{12}\.tmp$/;

/** Returns true for the name of a temporary file that a dead process left behind; it is safe to remove. */
function isLeftoverTemporary(name: string): boolean {
  return temporaryName.test(name);
}

/** Removes leftover temporary files for names that begin with `prefix`. The caller must be the only writer there. */
export async function removeLeftoverTemporaries(folder: string, prefix = ""): Promise<void> {
  for (const name of await readdir(folder)) {
    if (isLeftoverTemporary(name) && name.startsWith(`.${prefix}`))
      await rm(join(folder, name), { force: true });
  }
}

/**
 * Replaces or creates the file at `path` so that every reader, also after a power cut, finds either the complete
 * old or the complete new bytes: temporary file, fsync, rename, fsync of the folder. Resolves when the new content
 * is durable. Default mode 0600. Rejects with Node's own errors.
 */
export function writeFileAtomically(
  path: string,
  bytes: Uint8Array | string,
  options: { readonly mode?: number } = {},
): Promise<void> {
  return replaceFileAtomically(path, (file) => file.writeFile(bytes), options);
}

/**
 * The same for content that is written in pieces. `beforeRename` runs when the new bytes are durable under their
 * temporary name; if it throws, the old file stays.
 */
export async function replaceFileAtomically(
  path: string,
  write: (file: FileHandle) => Promise<unknown>,
  options: { readonly mode?: number; readonly beforeRename?: () => Promise<void> } = {},
): Promise<void> {
  const folder = dirname(path);
  const temporary = temporaryPathFor(path);
  try {
    // "wx" does not follow a link that another program put at the temporary name.
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

/** Returns an unused name beside `path`, which `removeLeftoverTemporaries` recognizes. */
export function temporaryPathFor(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
}

/** Makes changes of names in a folder durable: creations, renames and removals. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open folders; NTFS journals the rename itself.
  if (process.platform === "win32") return;
  await using handle = await open(folder, "r");
  await handle.sync();
}
