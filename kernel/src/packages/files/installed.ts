import { opendir, readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { isLaresError, messageOf, systemCode } from "../../base/errors.ts";
import { sha256File } from "../../platform/files/hash.ts";
import { openPlainFile } from "../../platform/files/plain-file.ts";
import { packageBounds as bounds, recordName } from "../bounds.ts";
import { readRecord, type PackageRecord } from "../package-record.ts";

/** How an installed package's folder differs from what was signed. */
interface InstalledChanges {
  /** The paths of files, sorted; of each kind at most `maxListed`. */
  readonly changed: readonly string[];
  readonly missing: readonly string[];
  readonly added: readonly string[];
}

interface InstalledPackage {
  /** Absolute. */
  readonly folder: string;
  /** Null if PACKAGE.json is not what a publisher signed; `fault` says why. */
  readonly record: PackageRecord | null;
  readonly fault?: string;
}

const maxListed = 100;
/** Folders that are looked into, and entries of an extension's folder. */
const maxFolders = 1_000;
const maxEntries = 20_000;

/** Returns the packages that are installed in a folder of extensions, sorted by folder; none if there is no folder. */
export async function packagesIn(place: string): Promise<InstalledPackage[]> {
  const names = await readdir(place).catch((error: unknown): string[] => {
    if (["ENOENT", "ENOTDIR", "EACCES"].includes(systemCode(error))) return [];
    throw error;
  });
  const found: InstalledPackage[] = [];
  for (const name of names.toSorted().slice(0, maxFolders)) {
    const installed = await readInstalled(join(place, name));
    if (installed === null) continue;
    const { folder, record } = installed;
    // Commands act on the folder named after the id.
    const isElsewhere = record !== null && record.id !== name;
    found.push(isElsewhere ? { folder, record: null, fault: misnamed(record.id) } : installed);
  }
  return found;
}

const misnamed = (id: string): string =>
  `It says that it is ${id}, and was not installed here: a package lies in a folder of the name of its id.`;

/** Returns who signed what is installed in a folder, and when it was put there; null if it holds no sound record. */
export async function installedPublisher(
  folder: string,
): Promise<{ readonly public_key: string; readonly since: string } | null> {
  const record = (await readInstalled(folder))?.record ?? null;
  if (record === null || record.id !== basename(folder)) return null;
  const { mtime } = await stat(join(folder, recordName));
  return { public_key: record.publisher, since: mtime.toISOString() };
}

/** Returns null if the folder holds no package. */
export async function readInstalled(folder: string): Promise<InstalledPackage | null> {
  try {
    await using file = await openPlainFile(join(folder, recordName), "read");
    if ((await file.stat()).size > bounds.maxRecordBytes)
      return { folder, record: null, fault: `${recordName} is too long.` };
    return { folder, record: readRecord(await file.readFile()) };
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return null;
    if (isLaresError(error)) return { folder, record: null, fault: messageOf(error) };
    throw error;
  }
}

/** Compares every file of a package's folder with its record. Links are not followed: they count as changes. */
export async function changesOf(folder: string, record: PackageRecord): Promise<InstalledChanges> {
  const changed: string[] = [];
  const added: string[] = [];
  const seen = new Set<string>();
  let entries = 0;
  const enter = async (inside: string): Promise<void> => {
    for await (const entry of await opendir(join(folder, inside))) {
      if (++entries > maxEntries) return;
      const path = inside === "" ? entry.name : `${inside}/${entry.name}`;
      const expected = Object.hasOwn(record.files, path) ? record.files[path] : undefined;
      if (entry.isDirectory()) await enter(path);
      else if (path === recordName) continue;
      else if (expected === undefined) added.push(path);
      else {
        seen.add(path);
        if ((await digestOf(join(folder, path))) !== expected) changed.push(path);
      }
    }
  };
  await enter("");
  const missing = Object.keys(record.files).filter((path) => !seen.has(path));
  const listed = (paths: string[]): string[] => paths.toSorted().slice(0, maxListed);
  return { changed: listed(changed), missing: listed(missing), added: listed(added) };
}

/** Null for what is not a regular file, or is too long to be one of a package. */
async function digestOf(path: string): Promise<string | null> {
  try {
    await using file = await openPlainFile(path, "read");
    if ((await file.stat()).size > bounds.maxFileBytes) return null;
    return (await sha256File(file)).slice("sha256:".length);
  } catch (error) {
    if (isLaresError(error) || systemCode(error) !== "") return null;
    throw error;
  }
}
