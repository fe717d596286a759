/** A folder of the workspace, as the kernel names it in its paths. */
export interface NamedFolder<Uri> {
  readonly name: string;
  readonly uri: Uri;
}

/**
 * The names that the kernel gives to the folders of a workspace: the last component of each path, and two of one
 * name are told apart by a number.
 */
export function namedFolders<Uri extends { readonly path: string }>(
  uris: readonly Uri[],
): NamedFolder<Uri>[] {
  const taken = new Set<string>();
  return uris.map((uri) => {
    const base = uri.path.replace(/\/+$/, "").split("/").at(-1) || "root";
    let name = base;
    for (let count = 2; taken.has(name); count++) name = `${base}-${count}`;
    taken.add(name);
    return { name, uri };
  });
}

/** The folder that a path of the kernel lies in, and the path inside it; null where it names no folder. */
export function locate<Uri>(
  folders: readonly NamedFolder<Uri>[],
  path: string,
): { readonly uri: Uri; readonly inner: string } | null {
  const [first] = folders;
  if (first === undefined) return null;
  if (folders.length === 1) return { uri: first.uri, inner: path };
  const slash = path.indexOf("/");
  const name = slash < 0 ? path : path.slice(0, slash);
  const folder = folders.find((candidate) => candidate.name === name);
  if (folder === undefined) return null;
  return { uri: folder.uri, inner: slash < 0 ? "" : path.slice(slash + 1) };
}
