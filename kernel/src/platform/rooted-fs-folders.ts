import { closeSync, constants, lstatSync, openSync } from "node:fs";
import { join } from "node:path";
import { messageOf, scopeViolation, storageError, type LaresError } from "../base/errors.ts";
import { isGitName } from "../base/names.ts";

/** A folder beneath the root, held while something is done in it. */
export interface HeldFolder extends Disposable {
  /** Where the system finds `name` in this very folder. */
  at(name: string): string;
  /** Descriptor of the folder, for fsync; null where folders cannot be opened. */
  readonly descriptor: number | null;
}

export interface FolderOpener extends Disposable {
  /** Null if a name on the way is not there or is a file; ScopeViolation if it is a link. */
  open(names: readonly string[]): HeldFolder | null;
}

/** The names of a canonical path; "." has none. Refuses what could leave the root, and `.git`. */
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

/** The system's word for what went wrong, e.g. "ENOENT". */
export function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

const folderFlags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/**
 * Linux: each folder is opened by its name in the one before it, as openat(2) would, and not if it is a
 * link. What is opened then stays what it is, wherever somebody moves it or whatever takes its name.
 */
export function descriptorOpener(root: string): FolderOpener {
  const rootDescriptor = openSync(root, folderFlags);
  const inFolder = (descriptor: number, name: string): string => `/proc/self/fd/${descriptor}/${name}`;
  const release = (descriptor: number): void => {
    if (descriptor !== rootDescriptor) closeSync(descriptor);
  };
  return {
    open(names) {
      let held = rootDescriptor;
      for (const name of names) {
        const here = held;
        try {
          held = openSync(inFolder(here, name), folderFlags);
        } catch (error) {
          if (isLink(inFolder(here, name))) throw linkInTheWay(names.join("/"));
          return nullIfMissing(error, names);
        } finally {
          release(here);
        }
      }
      return { at: (name) => inFolder(held, name), descriptor: held, [Symbol.dispose]: () => release(held) };
    },
    [Symbol.dispose]: () => closeSync(rootDescriptor),
  };
}

/**
 * Elsewhere: each folder on the way is looked at before it is used. Between the look and the use a folder
 * could still be swapped for a link by somebody who may write in the workspace; files are compared once
 * more after they were opened, changes of names are not.
 */
export function checkingOpener(root: string): FolderOpener {
  return {
    open(names) {
      let folder = root;
      for (const name of names) {
        folder = join(folder, name);
        const found = lstatSync(folder, { throwIfNoEntry: false });
        if (found === undefined) return null;
        if (found.isSymbolicLink()) throw linkInTheWay(names.join("/"));
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
    if (missing.has(systemCodeOf(error) ?? "")) return false;
    throw error;
  }
}

const missing = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG"]);

function nullIfMissing(error: unknown, names: readonly string[]): null {
  const code = systemCodeOf(error) ?? "";
  if (missing.has(code)) return null;
  // It was a link when it was opened and has become something else since.
  if (code === "ELOOP") throw linkInTheWay(names.join("/"));
  throw storageError(
    `The folder ${JSON.stringify(names.join("/"))} cannot be opened: ${messageOf(error)}`,
    error,
  );
}
