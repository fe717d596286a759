import { basename, relative, sep } from "node:path";
import process from "node:process";
import { pathOfFileUri } from "../protocol/v1/workspace-roots.ts";

export interface NamedRoot {
  readonly name: string;
  /** Absolute, links resolved. */
  readonly path: string;
}

/** Named by their folders; two of one name are told apart by a number. */
export function namedRoots(paths: readonly string[]): NamedRoot[] {
  const taken = new Set<string>();
  return paths.map((path) => {
    const base = basename(path) || "root";
    let name = base;
    for (let count = 2; taken.has(name); count++) name = `${base}-${count}`;
    taken.add(name);
    return { name, path };
  });
}

/**
 * From absolute real paths to the workspace's own. Empty for what lies outside; more than one where roots lie in
 * each other, for then a file has several paths and each of them counts.
 */
export function pathMapper(roots: readonly NamedRoot[]): (absolute: string) => string[] {
  return (absolute) =>
    roots.flatMap(({ name, path }) => {
      const inner = relative(path, absolute).split(sep).join("/");
      // On Windows another drive stays absolute.
      if (inner === ".." || inner.startsWith("../") || /^[A-Za-z]:/.test(inner)) return [];
      if (roots.length === 1) return [inner === "" ? "." : inner];
      return [inner === "" ? name : `${name}/${inner}`];
    });
}

/** The absolute path that a client's URI of a file names; null for any other, and for one that can name none. */
export function pathOf(uri: string): string | null {
  return pathOfFileUri(uri, process.platform);
}
