import { join } from "../platform/files/paths.ts";
import type { FolderState } from "../documents/ports.ts";
import { ObservedFiles } from "./observed-files.ts";
import { listFolders } from "../platform/files/document-files.ts";
import { namedRoots, type NamedRoot } from "./workspace-paths.ts";

/** The workspace's folders by workspace path, which begins with the root's name if there are several roots. */
export interface WorkspaceFolders {
  /** Returns the entry at the path; `files` records that it was probed. */
  state(path: string, files?: ObservedFiles): Promise<FolderState>;
  /** Returns the names of the folders in a folder; none if it is not a folder. */
  list(path: string): Promise<readonly string[]>;
}

/** `roots`: absolute. */
export function workspaceFolders(roots: readonly string[]): WorkspaceFolders {
  const named = namedRoots(roots);
  return {
    async state(path, files = new ObservedFiles()) {
      if (path === "." && named.length > 1) return "folder";
      const place = placeIn(named, path);
      return place === null ? "missing" : files.folderState(place.root, place.inner);
    },
    async list(path) {
      if (path === "." && named.length > 1) return named.map(({ name }) => name).toSorted();
      const place = placeIn(named, path);
      if (place === null || (await new ObservedFiles().folderState(place.root, place.inner)) !== "folder")
        return [];
      return listFolders(join(place.root, place.inner));
    },
  };
}

function placeIn(roots: readonly NamedRoot[], path: string): { root: string; inner: string } | null {
  const [first] = roots;
  if (roots.length <= 1) return first === undefined ? null : { root: first.path, inner: path };
  const [name, ...rest] = path.split("/");
  const root = roots.find((each) => each.name === name);
  return root === undefined ? null : { root: root.path, inner: rest.join("/") || "." };
}
