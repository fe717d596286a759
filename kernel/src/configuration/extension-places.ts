import { named } from "../base/named.ts";
import { realPathOf } from "../platform/files/document-files.ts";
import { isWithin, join } from "../platform/files/paths.ts";
import type { NamedRoot } from "./workspace-paths.ts";

/** A place that no extension's folder may be or hold. */
interface ClosedPlace {
  /** Absolute. */
  readonly path: string;
  /** The path in lower case, because most comparisons end with its beginning. */
  readonly lower: string;
  readonly what: string;
}

/** Returns why a folder may not hold an extension; null if it may. The folder is absolute and real. */
export type Misplacement = (folder: string) => string | null;

/**
 * Returns the check of extensions' folders. A program may contain everything in its folder, so a folder that is or holds a
 * workspace, a folder granted to any agent, or Lares's own files of this user would be read without a grant. The links of
 * all places are resolved once, since a thousand extensions may have as many folders. `granted`: canonical locations of the
 * workspace. `roots` and `closed`: absolute; the roots are real.
 */
export async function misplacements(
  { roots, closed }: { readonly roots: readonly NamedRoot[]; readonly closed: readonly string[] },
  granted: readonly string[],
): Promise<Misplacement> {
  const places: ClosedPlace[] = [];
  const add = (path: string, what: string): void =>
    void places.push({ path, lower: path.toLowerCase(), what });
  for (const { path } of roots) add(path, `the workspace ${named(path)}`);
  for (const place of closed) add(await realPathOf(place), "what Lares keeps of you");
  for (const location of granted) {
    if (location === ".") continue;
    const what = `${named(location)}, a folder granted to an agent`;
    for (const place of absolutePlaces(roots, location)) {
      const real = await realPathOf(place);
      add(place, what);
      if (real !== place) add(real, what);
    }
  }
  return (folder) => {
    const lower = folder.toLowerCase();
    const held = places.find((place) => place.lower.startsWith(lower) && isWithin(folder, place.path));
    return held === undefined
      ? null
      : `The extension's folder ${named(folder)} is, or holds, ${held.what}; a program may contain everything in its folder. Put the extension into a folder of its own, such as .lares/extensions/<name>.`;
  };
}

function absolutePlaces(roots: readonly NamedRoot[], location: string): string[] {
  const [only] = roots;
  if (roots.length === 1 && only !== undefined) return [join(only.path, location)];
  const [name, ...rest] = location.split("/");
  return roots.filter((root) => root.name === name).map((root) => join(root.path, ...rest));
}
