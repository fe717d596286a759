import { basename, dirname, extname, isAbsolute, join, normalize, relative, resolve, sep } from "node:path";

/**
 * Paths of this machine, in its own spelling. Rooms that may not import Node's modules take these from here; a workspace's
 * own paths have "/" between their names on every machine.
 */
export { basename, dirname, extname, join, normalize, resolve };

/**
 * Returns the path within a folder, with "/" between the names and empty for the folder itself. Returns null if `path`
 * lies outside, which includes another drive or machine. Both are absolute.
 */
export function pathInside(folder: string, path: string): string | null {
  const way = relative(folder, path);
  if (way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way)) return null;
  return way.split(sep).join("/");
}

/** Returns whether a path is this folder or lies in it. Both are absolute. */
export function isWithin(folder: string, path: string): boolean {
  return pathInside(folder, path) !== null;
}
