import type { CatalogEntry } from "./catalog-snapshot.ts";

/**
 * Returns the folders of extensions as workspace paths. They contain programs, so each change in them needs
 * approval.
 */
export function extensionFolders(
  entries: readonly Pick<CatalogEntry, "extension">[],
  workspacePaths: (absolute: string) => readonly string[],
): string[] {
  return entries.flatMap(({ extension }) => [...workspacePaths(extension.folder)]);
}
