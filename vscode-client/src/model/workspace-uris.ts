import { rootNames } from "../../../kernel/src/base/root-names.ts";

/** A folder of the workspace, with its name in kernel paths. */
export interface NamedFolder<Uri> {
  readonly name: string;
  readonly uri: Uri;
}

/** Returns the folders with the names that the kernel gives them, which depend on their real paths (`realPathOf`). */
export function namedFolders<Uri>(
  uris: readonly Uri[],
  realPathOf: (uri: Uri) => string,
): NamedFolder<Uri>[] {
  const names = rootNames(uris.map(realPathOf));
  return uris.map((uri, index) => ({ name: names[index] ?? "root", uri }));
}

/** Returns the folder that contains a kernel path, and the path inside it; null if it names no folder. */
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

/**
 * Returns the kernel's path of a file; undefined if it is in none of the folders. `inner`: its path inside a folder, or
 * undefined.
 */
export function pathWithin<Uri>(
  folders: readonly NamedFolder<Uri>[],
  inner: (folder: Uri) => string | undefined,
): string | undefined {
  for (const { name, uri } of folders) {
    const path = inner(uri);
    if (path === undefined || path === "") continue;
    return folders.length === 1 ? path : `${name}/${path}`;
  }
  return undefined;
}
