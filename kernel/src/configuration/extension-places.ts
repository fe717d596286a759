import { named } from "../base/named.ts";
import { realPathOf } from "../platform/files/document-files.ts";
import { isWithin, join } from "../platform/files/paths.ts";
import type { NamedRoot } from "./workspace-paths.ts";

/**
 * Returns why a folder may not hold an extension; null if it may. A program may contain everything in its folder, so a
 * folder that is or holds a workspace, a folder granted to any agent, or Lares's own files of this user would be read
 * without a grant. `granted`: canonical locations of the workspace. `folder`, `roots` and `closed`: absolute, real.
 */
export async function misplacement(
  folder: string,
  { roots, closed }: { readonly roots: readonly NamedRoot[]; readonly closed: readonly string[] },
  granted: readonly string[],
): Promise<string | null> {
  const holds = (place: string): boolean => isWithin(folder, place);
  const because = (what: string): string =>
    `The extension's folder ${named(folder)} is, or holds, ${what}; a program may contain everything in its folder. Put the extension into a folder of its own, such as .lares/extensions/<name>.`;
  for (const { path } of roots) if (holds(path)) return because(`the workspace ${named(path)}`);
  for (const place of closed) if (holds(await realPathOf(place))) return because("what Lares keeps of you");
  for (const location of granted) {
    if (location === ".") continue;
    for (const place of absolutePlaces(roots, location)) {
      if (holds(place) || holds(await realPathOf(place)))
        return because(`${named(location)}, a folder granted to an agent`);
    }
  }
  return null;
}

function absolutePlaces(roots: readonly NamedRoot[], location: string): string[] {
  const [only] = roots;
  if (roots.length === 1 && only !== undefined) return [join(only.path, location)];
  const [name, ...rest] = location.split("/");
  return roots.filter((root) => root.name === name).map((root) => join(root.path, ...rest));
}
