import { basename, dirname, extname, isAbsolute, join, normalize, relative, resolve, sep } from "node:path";

/**
 * Paths of this machine, in its own notation, for rooms that may not import Node's modules. A workspace's own paths
 * use "/" on every machine.
 */
export { basename, dirname, extname, join, normalize, resolve };

/**
 * Returns the path relative to a folder, with "/" between the names; empty for the folder itself. Returns null if
 * `path` is outside, such as on another drive or machine. Both are absolute.
 */
export function pathInside(folder: string, path: string): string | null {
  const way = relative(folder, path);
  if (way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way)) return null;
  return way.split(sep).join("/");
}

/** Returns true if a path is this folder or lies in it. Both are absolute. */
export function isWithin(folder: string, path: string): boolean {
  return pathInside(folder, path) !== null;
}
