import { ObservedFiles } from "../configuration/observed-files.ts";
import type { WorkspaceDocuments } from "../configuration/workspace-documents.ts";

/**
 * Returns the absolute folder of the extension that a kernel runs in this workspace for an id; null if there is none. As in the
 * catalog, the first entry that leads to the id counts: a workspace may name another extension of the same id by its path.
 */
export async function extensionInUse(documents: WorkspaceDocuments, id: string): Promise<string | null> {
  const files = new ObservedFiles();
  const finder = documents.createFinder(files);
  const { resolved } = await documents.resolve(files, finder, []);
  for (const { path, id: named, from } of resolved.value.extensions) {
    const found = path !== undefined ? await finder.byPath(path, from.file) : await finder.byId(named ?? "");
    if (found?.checked.value?.id === id) return found.folder;
  }
  return (await finder.byId(id))?.folder ?? null;
}

/** Returns the absolute folders of the extensions that the workspace's documents name. */
export async function extensionsInUse(documents: WorkspaceDocuments): Promise<ReadonlySet<string>> {
  const files = new ObservedFiles();
  const finder = documents.createFinder(files);
  const { resolved } = await documents.resolve(files, finder, []);
  const folders = new Set<string>();
  for (const { path, id, from } of resolved.value.extensions) {
    const found = path !== undefined ? await finder.byPath(path, from.file) : await finder.byId(id ?? "");
    if (found !== null) folders.add(found.folder);
  }
  return folders;
}
