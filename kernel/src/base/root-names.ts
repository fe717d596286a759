/**
 * Returns the names of the workspace's folders in its paths ("<name>/notes/a.md"), in the order given. A folder is
 * named by its last component; folders with the same name are numbered in the order of their paths. Names therefore
 * depend only on the set of real absolute paths, not on the order in which the folders were opened.
 */
export function rootNames(realPaths: readonly string[]): string[] {
  const taken = new Set<string>();
  const names = new Map<string, string>();
  // Sorted by code units, because the order of letters depends on the locale.
  for (const path of realPaths.toSorted()) {
    const base = path.split(/[\\/]/).findLast((part) => part !== "") ?? "root";
    let name = base;
    for (let count = 2; taken.has(name); count++) name = `${base}-${count}`;
    taken.add(name);
    names.set(path, name);
  }
  return realPaths.map((path) => names.get(path) ?? "root");
}
