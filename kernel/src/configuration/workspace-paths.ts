import { rootNames } from "../base/root-names.ts";
import { realPathOf } from "../platform/files/document-files.ts";
import { pathInside } from "../platform/files/paths.ts";

export interface NamedRoot {
  readonly name: string;
  /** Absolute, links resolved. */
  readonly path: string;
}

/** Names the roots after their folders, as `rootNames` does. */
export function namedRoots(paths: readonly string[]): NamedRoot[] {
  const names = rootNames(paths);
  return paths.map((path, index) => ({ name: names[index] ?? "root", path }));
}

/**
 * Returns a function from absolute real paths to workspace paths: none for a path outside; several if roots are
 * nested, because a file then has several paths.
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
 * Returns a function like `mapper` that also follows links into the workspace: paths of the real file first,
 * without duplicates. Links are resolved at each call, because their targets may change.
 */
export function throughLinks(
  mapper: (absolute: string) => readonly string[],
): (absolute: string) => Promise<readonly string[]> {
  return async (absolute) => [...new Set([...mapper(await realPathOf(absolute)), ...mapper(absolute)])];
}
