import { closeSync, constants, fstatSync, lstatSync, openSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { messageOf, scopeViolation, storageError, systemCode, type LaresError } from "../../base/errors.ts";
import { isGitName } from "../../base/names.ts";

/** A folder beneath the root, held open during an operation. */
export interface HeldFolder extends Disposable {
  /** Returns the path of `name` in exactly this folder. */
  at(name: string): string;
  /** The folder's descriptor, for fsync; null where folders cannot be opened. */
  readonly descriptor: number | null;
}

export interface FolderOpener extends Disposable {
  /**
   * Opens the folder with these names, on the path `asked`. Returns null if a name on the way is missing or a file;
   * throws ScopeViolation for `asked` if it is a link.
   */
  open(names: readonly string[], asked: string): HeldFolder | null;
}

/** Returns the names of a canonical path; "." has none. Refuses paths that could leave the root, and `.git`. */
export function namesOf(path: string): string[] {
  if (path === ".") return [];
  const names = path.split("/");
  for (const name of names) {
    if (name === "" || name === "." || name === ".." || name.includes("\0")) {
      throw scopeViolation(path, `${JSON.stringify(path)} is not a canonical path beneath the workspace.`);
    }
    if (isGitName(name))
      throw scopeViolation(path, `${JSON.stringify(path)} leads through .git, which is never touched.`);
  }
  return names;
}

export function linkInTheWay(path: string): LaresError {
  return scopeViolation(path, `${JSON.stringify(path)} leads through a link; links are not followed.`);
}

const folderFlags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/**
 * For Linux: opens each folder by its name in the one before, like openat(2), and refuses links. An opened folder
 * stays the same wherever it is moved. If another folder is now at the root's path, that one becomes the root.
 */
export function descriptorOpener(root: string): FolderOpener {
  let current = holdRoot(root);
  const inFolder = (descriptor: number, name: string): string => `/proc/self/fd/${descriptor}/${name}`;
  const retire = (old: HeldRoot): void => {
    old.isRetired = true;
    if (old.users === 0) closeSync(old.descriptor);
  };
  const renewed = (): boolean => {
    const found = lstatSync(root, { throwIfNoEntry: false });
    if (found?.ino === current.inode && found.dev === current.device) return true;
    // A folder above may have become a link.
    if (found?.isDirectory() !== true || realpathSync(root) !== root) return false;
    const old = current;
    current = holdRoot(root);
    retire(old);
    return true;
  };
  return {
    open(names, asked) {
      try {
        if (!renewed()) return null;
      } catch (error) {
        return nullIfMissing(error, names, asked);
      }
      const start = current;
      start.users++;
      let held = start.descriptor;
      const release = (descriptor: number): void => {
        if (descriptor !== start.descriptor) return closeSync(descriptor);
        start.users--;
        if (start.isRetired && start.users === 0) closeSync(start.descriptor);
      };
      for (const name of names) {
        const here = held;
        try {
          held = openSync(inFolder(here, name), folderFlags);
        } catch (error) {
          if (isLink(inFolder(here, name))) throw linkInTheWay(asked);
          return nullIfMissing(error, names, asked);
        } finally {
          release(here);
        }
      }
      return { at: (name) => inFolder(held, name), descriptor: held, [Symbol.dispose]: () => release(held) };
    },
    [Symbol.dispose]: () => retire(current),
  };
}

/** Closed when another folder has become the root and nothing uses this one any more. */
interface HeldRoot {
  readonly descriptor: number;
  readonly inode: number;
  readonly device: number;
  users: number;
  isRetired: boolean;
}

function holdRoot(root: string): HeldRoot {
  const descriptor = openSync(root, folderFlags);
  const { ino, dev } = fstatSync(descriptor);
  return { descriptor, inode: ino, device: dev, users: 0, isRetired: false };
}

/**
 * For other systems: checks each folder on the way before it is used. Between check and use, another program with
 * write access could still replace a folder by a link; files are compared again after they were opened, changes of
 * names are not.
 */
export function checkingOpener(root: string): FolderOpener {
  return {
    open(names, asked) {
      let folder = root;
      if (lstatSync(root, { throwIfNoEntry: false })?.isDirectory() !== true) return null;
      for (const name of names) {
        folder = join(folder, name);
        const found = lstatSync(folder, { throwIfNoEntry: false });
        if (found === undefined) return null;
        if (found.isSymbolicLink()) throw linkInTheWay(asked);
        if (!found.isDirectory()) return null;
      }
      return { at: (name) => join(folder, name), descriptor: null, [Symbol.dispose]() {} };
    },
    [Symbol.dispose]() {},
  };
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch (error) {
    if (missing.has(systemCode(error))) return false;
    throw error;
  }
}

const missing = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG"]);

function nullIfMissing(error: unknown, names: readonly string[], asked: string): null {
  const code = systemCode(error);
  if (missing.has(code)) return null;
  // It was a link when it was opened and has been replaced since.
  if (code === "ELOOP") throw linkInTheWay(asked);
  throw storageError(
    `The folder ${JSON.stringify(names.join("/"))} cannot be opened: ${messageOf(error)}`,
    error,
  );
}
