import { randomBytes } from "node:crypto";
import { lstat, mkdir, mkdtemp, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import process from "node:process";
import { storageError, systemCode } from "../../base/errors.ts";
import { writeFileAtomically } from "../files/atomic-file.ts";
import { sha256Hex } from "../files/hash.ts";
import { readPlainText, UnusableFile } from "../files/plain-file.ts";
import type { Environment } from "../files/state-folder.ts";
import { storageFailure } from "../files/storage-failure.ts";

/** A Unix socket's address holds 104 bytes on macOS, 108 on Linux, its final NUL included. */
const maxSocketPathBytes = 103;
/** A recorded path is a socket's address and a line break. */
const maxRecordBytes = 256;
/** The folders that `mkdtemp` makes carry this name and six characters more. */
const madeFolder = /^lares-\d+-[A-Za-z0-9]{6}$/;

/** Folders in which a folder for the socket can be created, best first. */
export interface SocketRoots {
  /** Folders that belong to one user. */
  readonly runtime: readonly string[];
  /** Folders that everybody may write to. */
  readonly temporary: readonly string[];
}

export function socketRoots(environment: Environment): SocketRoots {
  const user = process.getuid?.() ?? 0;
  return {
    runtime: [environment["XDG_RUNTIME_DIR"], `/run/user/${user}`].filter(isAbsolutePath),
    temporary: [environment["TMPDIR"], tmpdir(), "/tmp"].filter(isAbsolutePath),
  };
}

/**
 * Returns the path on which the kernel of this state folder is to listen: `kernel.sock` in the state folder where an
 * address can hold that path; otherwise a socket in a short folder that only this user can open. On Windows it is a named
 * pipe. Only the holder of the state folder's lock may call this, because the choice is recorded in `kernel.place`.
 *
 * Clients read that record instead of making the choice again: they may have another environment, and another user
 * can occupy any name that can be guessed. A folder that is not private is therefore skipped, and the last candidates
 * have random names. Throws StorageError where no folder can be used.
 */
export async function chooseSocketPath(
  stateFolder: string,
  roots: SocketRoots = socketRoots(process.env),
): Promise<string> {
  const near = nearPath(stateFolder);
  if (near !== null) return near;
  const path =
    process.platform === "win32"
      ? `\\\\.\\pipe\\lares-${randomBytes(16).toString("hex")}`
      : join(await chooseFolder(stateFolder, roots), socketName(stateFolder));
  await record(stateFolder, path);
  return path;
}

/**
 * Returns the path on which the kernel of this state folder listens, if one is running; null where no kernel has
 * recorded a path. Throws StorageError where another user could have put the socket there.
 */
export async function recordedSocketPath(stateFolder: string): Promise<string | null> {
  const near = nearPath(stateFolder);
  if (near !== null) return near;
  const path = await readRecord(stateFolder);
  if (path === null || process.platform === "win32") return path;
  const folder = dirname(path);
  const state = await folderState(folder);
  if (state === "missing") return null;
  if (state === "foreign")
    throw storageError(
      `The folder of the kernel's socket, "${folder}", can be opened by others; it is not used. Run: chmod 700 "${folder}"`,
    );
  return path;
}

/** Removes the socket's folder if `chooseSocketPath` made it for this kernel alone. */
export async function removeMadeFolder(socketPath: string): Promise<void> {
  const folder = dirname(socketPath);
  if (!madeFolder.test(folder.slice(folder.lastIndexOf("/") + 1))) return;
  // The folder may hold the next kernel's socket by now, or be gone.
  await rmdir(folder).catch(() => undefined);
}

function nearPath(stateFolder: string): string | null {
  if (process.platform === "win32") return null;
  const near = join(stateFolder, "kernel.sock");
  return Buffer.byteLength(near) <= maxSocketPathBytes ? near : null;
}

function socketName(stateFolder: string): string {
  return `${sha256Hex(stateFolder).slice(0, 24)}.sock`;
}

async function chooseFolder(stateFolder: string, { runtime, temporary }: SocketRoots): Promise<string> {
  const name = socketName(stateFolder);
  const fits = (folder: string): boolean => Buffer.byteLength(join(folder, name)) <= maxSocketPathBytes;
  const recorded = await readRecord(stateFolder);
  // A folder that an earlier kernel made is used again, so that crashes do not leave one folder each.
  if (recorded !== null && fits(dirname(recorded)) && (await folderState(dirname(recorded))) === "private")
    return dirname(recorded);

  const user = process.getuid?.() ?? 0;
  const all = [...new Set([...runtime, ...temporary])];
  const named = [
    ...runtime.map((folder) => join(folder, "lares")),
    ...temporary.map((folder) => join(folder, `lares-${user}`)),
  ];
  for (const folder of named) if (fits(folder) && (await takePrivateFolder(folder))) return folder;
  for (const folder of all) {
    const prefix = join(folder, `lares-${user}-`);
    if (!fits(`${prefix}XXXXXX`)) continue;
    const made = await mkdtemp(prefix).catch(() => null);
    if (made !== null && (await folderState(made)) === "private") return made;
  }
  throw storageError(
    `No folder for the kernel's socket was found: the path of "${stateFolder}" is too long for a socket, and none of ${all.join(", ")} can hold a private folder. Set LARES_HOME to a shorter path.`,
  );
}

function isAbsolutePath(path: string | undefined): path is string {
  return path !== undefined && isAbsolute(path);
}

/** Makes the folder if it is missing. Returns true if it is now a folder that only this user can open. */
async function takePrivateFolder(folder: string): Promise<boolean> {
  try {
    // Not recursive, so that a missing runtime folder is not created for another user.
    await mkdir(folder, { mode: 0o700 });
  } catch {
    // It exists, or cannot be created; the check below decides either way.
  }
  return (await folderState(folder)) === "private";
}

/** A link counts as foreign, even if it leads to a private folder: its owner can change where it leads. */
async function folderState(folder: string): Promise<"private" | "foreign" | "missing"> {
  try {
    const found = await lstat(folder);
    const isPrivate = found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
    return isPrivate ? "private" : "foreign";
  } catch (error) {
    const code = systemCode(error);
    return code === "ENOENT" || code === "ENOTDIR" ? "missing" : "foreign";
  }
}

function recordPath(stateFolder: string): string {
  return join(stateFolder, "kernel.place");
}

async function record(stateFolder: string, path: string): Promise<void> {
  try {
    await writeFileAtomically(recordPath(stateFolder), new TextEncoder().encode(`${path}\n`), {
      mode: 0o600,
    });
  } catch (error) {
    throw storageFailure(`"${recordPath(stateFolder)}" cannot be written`, error);
  }
}

async function readRecord(stateFolder: string): Promise<string | null> {
  try {
    const path = (await readPlainText(recordPath(stateFolder), maxRecordBytes))?.trimEnd() ?? "";
    const isUsable = process.platform === "win32" ? path.startsWith("\\\\.\\pipe\\lares-") : isAbsolute(path);
    return isUsable ? path : null;
  } catch (error) {
    // The kernel did not write what is there: the next kernel replaces it.
    if (error instanceof UnusableFile) return null;
    throw error;
  }
}
