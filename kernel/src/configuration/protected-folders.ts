import type { CatalogEntry } from "./catalog-snapshot.ts";

/** Returns the folders of extensions as workspace paths. They hold programs, so each change in them is asked about. */
export function extensionFolders(
  entries: readonly Pick<CatalogEntry, "extension">[],
  workspacePaths: (absolute: string) => readonly string[],
): string[] {
  return entries.flatMap(({ extension }) => [...workspacePaths(extension.folder)]);
}
