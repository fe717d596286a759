import { lstatSync, type Stats } from "node:fs";
import { LaresError, notFound, stale, systemCode } from "../../base/errors.ts";
import { linkInTheWay } from "./rooted-fs-folders.ts";
import { storageFailure } from "./storage-failure.ts";

export interface FileStat {
  readonly kind: "file" | "folder" | "link" | "other";
  /** Bytes. */
  readonly size: number;
  readonly mtimeMs: number;
  readonly birthtimeMs: number;
  /** Permission bits. */
  readonly mode: number;
  readonly inode: string;
  readonly device: string;
  /** The number of names that the entry has; over 1: it is a hard link. */
  readonly names: number;
}

/** Returns the facts of the name itself; null if nothing exists there, or can. */
export function statOf(path: string): FileStat | null {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats === undefined ? null : fileStat(stats);
  } catch (error) {
    if (systemCode(error) === "ENAMETOOLONG") return null;
    throw error;
  }
}

export function fileStat(stats: Stats): FileStat {
  return {
    kind: kindOf(stats),
    size: stats.size,
    mtimeMs: stats.mtimeMs,
    birthtimeMs: stats.birthtimeMs,
    mode: stats.mode & 0o7777,
    inode: String(stats.ino),
    device: String(stats.dev),
    names: stats.nlink,
  };
}

export function kindOf(entry: {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}): FileStat["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}

export function pathOccupied(path: string): LaresError {
  return stale(path, `${JSON.stringify(path)} already exists.`);
}

/** Converts a system error to a LaresError. */
export function translated(path: string, error: unknown): LaresError {
  if (error instanceof LaresError) return error;
  switch (systemCode(error)) {
    case "ENOENT":
    case "ENOTDIR":
    case "EISDIR":
    case "ENXIO":
      return notFound("file", path);
    case "EEXIST":
      return pathOccupied(path);
    case "ELOOP":
      return linkInTheWay(path);
    default:
      return storageFailure(JSON.stringify(path), error);
  }
}
