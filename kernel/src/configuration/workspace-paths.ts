import { rootNames } from "../base/root-names.ts";
import { realPathOf } from "../platform/files/document-files.ts";
import { pathInside } from "../platform/files/paths.ts";

export interface NamedRoot {
  readonly name: string;
  /** Absolute, links resolved. */
  readonly path: string;
}

/** Names the roots by their folders, as `rootNames` does. */
export function namedRoots(paths: readonly string[]): NamedRoot[] {
  const names = rootNames(paths);
  return paths.map((path, index) => ({ name: names[index] ?? "root", path }));
}

/**
 * Returns a function from absolute real paths to the workspace's own: none for a path outside, several if roots lie in
 * each other, for then a file has several paths.
 */
export function pathMapper(roots: readonly NamedRoot[]): (absolute: string) => string[] {
  return (absolute) =>
    roots.flatMap(({ name, path }) => {
      const inner = pathInside(path, absolute);
      if (inner === null) return [];
      if (roots.length === 1) return [inner === "" ? "." : inner];
      return [inner === "" ? name : `${name}/${inner}`];
    });
}

/**
 * Returns a function like `mapper` that also follows links into the workspace: paths of the real file first, each once.
 * Links are resolved at each call, because they may be given another target.
 */
export function throughLinks(
  mapper: (absolute: string) => readonly string[],
): (absolute: string) => Promise<readonly string[]> {
  return async (absolute) => [...new Set([...mapper(await realPathOf(absolute)), ...mapper(absolute)])];
}
