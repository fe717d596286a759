import { lstat, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { messageOf, notFound, storageError, systemCode } from "../../base/errors.ts";
import { temporaryPathFor } from "./atomic-file.ts";
import { readPlainText } from "./plain-file.ts";

/**
 * Which folder a state folder belongs to. A state folder is found by the path of its workspace; a workspace that was renamed
 * since is recognised by what its file system says about it. A copy, a clone and another folder of the same name are others.
 */
const recordName = "workspace.json";
const maxRecordBytes = 4_096;
/** State folders that are looked at; a person has some tens. */
const maxFolders = 10_000;
/** What a person allowed in the workspace. */
const grantsName = "decisions.yaml";

/** What a rename keeps, and what nobody else has: whoever owns the folder cannot choose these. */
interface FolderIdentity {
  readonly device: string;
  readonly inode: string;
  /** Nanoseconds since 1970. */
  readonly born: string;
}

interface WorkspaceRecord extends FolderIdentity {
  readonly path: string;
}

/** The state of a workspace that has another path now. */
interface AdoptableState {
  readonly stateFolder: string;
  /** The path of the workspace when the state was last used. */
  readonly before: string;
}

/** Returns null where the file system does not say when the folder was made, because a number alone can be used again. */
async function identityOf(folder: string): Promise<FolderIdentity | null> {
  const { dev, ino, birthtimeNs } = await stat(folder, { bigint: true });
  if (ino === 0n || birthtimeNs <= 0n) return null;
  return { device: String(dev), inode: String(ino), born: String(birthtimeNs) };
}

/**
 * Notes in the state folder which folder it belongs to. `root` is its real path. Nothing depends on the note but the offer to
 * adopt the state after a rename, so that a note that cannot be written is left out.
 */
export async function recordWorkspace(stateFolder: string, root: string): Promise<void> {
  const identity = await identityOf(root).catch(() => null);
  if (identity === null) return;
  const path = join(stateFolder, recordName);
  const text = `${JSON.stringify({ path: root, ...identity } satisfies WorkspaceRecord)}\n`;
  const before = await readPlainText(path, maxRecordBytes).catch(() => null);
  if (before === text) return;
  const temporary = temporaryPathFor(path);
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: "wx" });
    await rename(temporary, path);
  } catch {
    await rm(temporary, { force: true }).catch(() => undefined);
  }
}

async function recordOf(stateFolder: string): Promise<WorkspaceRecord | null> {
  try {
    const value: unknown = JSON.parse(
      (await readPlainText(join(stateFolder, recordName), maxRecordBytes)) ?? "null",
    );
    return isRecord(value) ? value : null;
  } catch {
    // It is not one that was written here.
    return null;
  }
}

function isRecord(value: unknown): value is WorkspaceRecord {
  if (typeof value !== "object" || value === null) return false;
  const fields: Readonly<Record<string, unknown>> = { ...value };
  return ["path", "device", "inode", "born"].every((name) => typeof fields[name] === "string");
}

/**
 * Returns the state that belongs to this folder and was last used under another path, which no longer exists; the one that was
 * used last if there are several. `ownState`: where the state of its path is, which need not exist.
 */
export async function adoptableState(root: string, ownState: string): Promise<AdoptableState | null> {
  const identity = await identityOf(root);
  if (identity === null) return null;
  const all = dirname(ownState);
  const names = await readdir(all).catch(() => []);
  let found: (AdoptableState & { readonly usedMs: number }) | null = null;
  for (const name of names.slice(0, maxFolders)) {
    const stateFolder = join(all, name);
    if (name === basename(ownState) || isSetAside(name)) continue;
    const record = await recordOf(stateFolder);
    if (record === null || !isSame(record, identity) || (await exists(record.path))) continue;
    const usedMs = (await stat(join(stateFolder, recordName))).mtimeMs;
    if (found === null || usedMs > found.usedMs) found = { stateFolder, before: record.path, usedMs };
  }
  return found === null ? null : { stateFolder: found.stateFolder, before: found.before };
}

const isSame = (one: FolderIdentity, other: FolderIdentity): boolean =>
  one.device === other.device && one.inode === other.inode && one.born === other.born;

const isSetAside = (name: string): boolean => name.includes(".before-adoption-");

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    // A folder that cannot be looked at may be there.
    return !["ENOENT", "ENOTDIR"].includes(systemCode(error));
  }
}

/**
 * Makes the state of a renamed workspace that of its new path. What was allowed there is set aside first, so that it is asked
 * again; a state that the new path has already is set aside too. No kernel may run for either. Returns where that one is now.
 */
export async function adoptState(
  root: string,
  ownState: string,
  nowMs: number,
): Promise<AdoptableState & { readonly setAside: string | null }> {
  const found = await adoptableState(root, ownState);
  if (found === null) throw notFound("state of a folder that was renamed to", root);
  const suffix = `before-adoption-${nowMs}`;
  try {
    const grants = join(found.stateFolder, grantsName);
    if (await exists(grants)) await rename(grants, join(found.stateFolder, `${grantsName}.${suffix}`));
    let setAside: string | null = null;
    if (await exists(ownState)) {
      setAside = `${ownState}.${suffix}`;
      await rename(ownState, setAside);
    }
    await rename(found.stateFolder, ownState);
    await recordWorkspace(ownState, root);
    return { ...found, setAside };
  } catch (error) {
    throw storageError(
      `The state of "${found.before}" could not be brought over: ${messageOf(error)}. Nothing of it is lost; run the command again.`,
      error,
    );
  }
}
