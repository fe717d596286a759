/**
 * Returns the URL of a module beside the caller's: source (`.ts`) when running from sources, JavaScript (`.js`)
 * when built. For entry files of workers and child processes.
 */
export function siblingModule(importMetaUrl: string, nameWithoutExtension: string): URL {
  const extension = new URL(importMetaUrl).pathname.endsWith(".ts") ? "ts" : "js";
  return new URL(`./${nameWithoutExtension}.${extension}`, importMetaUrl);
}
