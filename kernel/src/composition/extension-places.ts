import { join, relative, sep } from "node:path";
import { named } from "../base/named.ts";
import { realPathOf, type NamedRoot } from "./workspace-paths.ts";

/**
 * Says why a folder may not be an extension's; null where it may. What a program imports becomes part of it, so that a
 * folder which is, or holds, a workspace, a folder granted to any agent, or what Lares keeps of this user would be read
 * without a grant. `granted`: canonical locations of the workspace. `folder`, `roots` and `closed`: absolute, real.
 */
export async function misplacement(
  folder: string,
  { roots, closed }: { readonly roots: readonly NamedRoot[]; readonly closed: readonly string[] },
  granted: readonly string[],
): Promise<string | null> {
  const holds = (place: string): boolean => {
    const inner = relative(folder, place);
    return inner === "" || (inner !== ".." && !inner.startsWith(`..${sep}`) && !/^[A-Za-z]:/.test(inner));
  };
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
