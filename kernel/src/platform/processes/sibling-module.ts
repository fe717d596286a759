/**
 * The address of a module beside the one that asks: as source (`.ts`) where that runs from its sources, as
 * built JavaScript (`.js`) where it was built. For entry files of workers and child processes.
 */
export function siblingModule(importMetaUrl: string, nameWithoutExtension: string): URL {
  const extension = new URL(importMetaUrl).pathname.endsWith(".ts") ? "ts" : "js";
  return new URL(`./${nameWithoutExtension}.${extension}`, importMetaUrl);
}
