import { realpath } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import process from "node:process";
import { rootNames } from "../base/root-names.ts";
import { pathOfFileUri } from "../protocol/v1/workspace-roots.ts";

export interface NamedRoot {
  readonly name: string;
  /** Absolute, links resolved. */
  readonly path: string;
}

/** Named by their folders, as `rootNames` says. */
export function namedRoots(paths: readonly string[]): NamedRoot[] {
  const names = rootNames(paths);
  return paths.map((path, index) => ({ name: names[index] ?? "root", path }));
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

/**
 * As `mapper`, and also for paths that lead into the workspace by links: those of the real file first, each once. Looked
 * up anew each time, for a link may be given another target.
 */
export function throughLinks(
  mapper: (absolute: string) => readonly string[],
): (absolute: string) => Promise<readonly string[]> {
  return async (absolute) => [...new Set([...mapper(await realPathOf(absolute)), ...mapper(absolute)])];
}

/** Links resolved as far as there is something: of what is not there yet, its folder's. */
export async function realPathOf(absolute: string): Promise<string> {
  let rest = "";
  for (let path = absolute; ; path = dirname(path)) {
    try {
      return join(await realpath(path), rest);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      // A link in a circle, or a place that cannot be looked into, has no other name that is known.
      if (!["ENOENT", "ENOTDIR"].includes(code) || dirname(path) === path) return absolute;
      rest = join(basename(path), rest);
    }
  }
}
