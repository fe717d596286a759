import { lstat, mkdir, mkdtemp, readdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { systemCode } from "../../base/errors.ts";
import { extensionIdPattern } from "../../base/vocabulary/extension.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { syncFolder } from "../../platform/files/atomic-file.ts";
import { isWithin } from "../../platform/files/paths.ts";
import { openPlainFile } from "../../platform/files/plain-file.ts";
import { storageFailure } from "../../platform/files/storage-failure.ts";
import { recordName } from "../bounds.ts";
import { refusedPackage } from "../package-error.ts";
import type { VerifiedPackage } from "../package-file.ts";

/** The beginning of the names of folders in which packages are prepared, beside the installed ones. No extension is found there. */
const stagingPrefix = ".installing-";
const names = { id: "id", fresh: "new", old: "old", removed: "removed" } as const;
const maxIdBytes = 128;
const idForm = new RegExp(extensionIdPattern);

/** A folder with extensions, one folder each by its id. Only one process changes packages at a time. */
export interface Place {
  /** Absolute. */
  readonly folder: string;
  /** The workspace that the folder must not leave, absolute; absent for the user's own. */
  readonly within?: string;
}

/** A fully extracted package in a staging folder. Disposing it removes the folder. */
interface StagedPackage extends AsyncDisposable {
  /** Puts it at its place, by one rename, and removes what it replaces. Returns the absolute folder. */
  activate(): Promise<string>;
}

/** Writes a verified package's files into a fresh folder beside its target. */
export async function stagePackage(
  place: Place,
  { record, recordBytes, files }: VerifiedPackage,
  signal: AbortSignal,
): Promise<StagedPackage> {
  await openPlace(place);
  const target = join(place.folder, record.id);
  const staging = await mkdtemp(join(place.folder, stagingPrefix));
  const remove = (): Promise<void> => rm(staging, { recursive: true, force: true });
  try {
    await writeFile(join(staging, names.id), record.id, { flush: true });
    const fresh = join(staging, names.fresh);
    await mkdir(fresh);
    const folders = new Set([fresh]);
    for (const [path, bytes] of [...files, [recordName, recordBytes] as const]) {
      signal.throwIfAborted();
      const file = join(fresh, ...path.split("/"));
      if (!folders.has(dirname(file))) {
        await mkdir(dirname(file), { recursive: true });
        folders.add(dirname(file));
      }
      await writeFile(file, bytes, { flag: "wx", mode: 0o644, flush: true });
    }
    for (const folder of folders) await syncFolder(folder);
    failpoint("package.staged");
  } catch (error) {
    await remove();
    if (signal.aborted) throw error;
    throw storageFailure(`The package cannot be written to "${place.folder}"`, error);
  }
  return {
    activate: async () => {
      await checkTarget(target);
      await moved(target, join(staging, names.old));
      failpoint("package.old-moved");
      try {
        await rename(join(staging, names.fresh), target);
      } catch (error) {
        await moved(join(staging, names.old), target);
        throw storageFailure(`The package cannot be put at "${target}"`, error);
      }
      failpoint("package.placed");
      await syncFolder(place.folder);
      await remove();
      return target;
    },
    [Symbol.asyncDispose]: remove,
  };
}

/** Removes an installed package. Returns false if there is none. */
export async function removePackage(place: Place, id: string): Promise<boolean> {
  await openPlace(place);
  const target = join(place.folder, id);
  if (!idForm.test(id) || (await kindOf(target)) === null) return false;
  await checkTarget(target);
  const staging = await mkdtemp(join(place.folder, stagingPrefix));
  await moved(target, join(staging, names.removed));
  failpoint("package.removed");
  await syncFolder(place.folder);
  await rm(staging, { recursive: true, force: true });
  return true;
}

/** Creates the folder, checks its location, and recovers from interrupted commands. */
async function openPlace({ folder, within }: Place): Promise<void> {
  if (within !== undefined) {
    // Checked for each folder before anything is created in it, because an untrusted workspace may have a link there.
    for (const step of [dirname(folder), folder]) await checkInside(step, within);
  }
  await mkdir(folder, { recursive: true });
  await recoverPlace(folder);
}

async function checkInside(folder: string, within: string): Promise<void> {
  let real: string;
  try {
    real = await realpath(folder);
  } catch (error) {
    if (systemCode(error) === "ENOENT" && (await kindOf(folder)) === null) return;
    throw storageFailure(`"${folder}" cannot be used`, error);
  }
  if (!isWithin(await realpath(within), real))
    throw refusedPackage(
      "link",
      `"${folder}" leads out of the workspace, to "${real}", so nothing is installed there. Remove the link.`,
    );
}

/** True if a command that changed packages here died, or is at work. */
export async function hasLeftovers(folder: string): Promise<boolean> {
  return (await readdir(folder).catch(none)).some((name) => name.startsWith(stagingPrefix));
}

/** Brings back what an interrupted update moved away, and removes what is left of interrupted installations. */
export async function recoverPlace(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(none)) {
    if (!name.startsWith(stagingPrefix)) continue;
    const staging = join(folder, name);
    const id = await idIn(staging);
    const target = join(folder, id);
    if (idForm.test(id) && (await kindOf(target)) === null) await moved(join(staging, names.old), target);
    await rm(staging, { recursive: true, force: true });
  }
}

/**
 * Returns the id that a dead process wrote down; "" if there is none. A stranger's workspace may have anything of this name:
 * links are not followed, and nothing is read that has no end.
 */
async function idIn(staging: string): Promise<string> {
  if ((await kindOf(staging)) !== "folder") return "";
  try {
    await using file = await openPlainFile(join(staging, names.id), "read");
    return (await file.stat()).size > maxIdBytes ? "" : await file.readFile("utf8");
  } catch {
    return "";
  }
}

const none = (): string[] => [];

/** Refuses to replace or remove a folder that no package created. */
async function checkTarget(target: string): Promise<void> {
  const kind = await kindOf(target);
  if (kind === null) return;
  const isPackage = kind === "folder" && (await kindOf(join(target, recordName))) === "file";
  if (!isPackage)
    throw refusedPackage(
      "duplicate-name",
      `"${target}" was not installed from a package, so it is left as it is. Move it away, then install ${basename(target)} again.`,
    );
}

async function kindOf(path: string): Promise<"folder" | "file" | "other" | null> {
  const found = await lstat(path).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return null;
    throw error;
  });
  if (found === null) return null;
  return found.isDirectory() ? "folder" : found.isFile() ? "file" : "other";
}

/** Renames a folder if there is one. */
async function moved(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw storageFailure(`"${from}" cannot be moved`, error);
  }
}
