/**
 * How the folders of a workspace are named in its paths ("<name>/notes/a.md"), in the order given: by their last
 * component; of one name, the later ones by the order of their paths have a number. So who knows the same folders, by
 * their real absolute paths, knows the same names, in whatever order they were opened.
 */
export function rootNames(realPaths: readonly string[]): string[] {
  const taken = new Set<string>();
  const names = new Map<string, string>();
  // By code units: what a language takes for the order of letters is not the same everywhere.
  for (const path of realPaths.toSorted()) {
    const base = path.split(/[\\/]/).findLast((part) => part !== "") ?? "root";
    let name = base;
    for (let count = 2; taken.has(name); count++) name = `${base}-${count}`;
    taken.add(name);
    names.set(path, name);
  }
  return realPaths.map((path) => names.get(path) ?? "root");
}
