/** Returns a path beneath an extension's folder in the one form that it is compared by: without "./" and double slashes. */
export function plainPath(path: string): string {
  return path
    .split("/")
    .filter((part) => part !== "." && part !== "")
    .join("/");
}

/** True if a path cannot lie beneath the folder that it is relative to. */
export function leavesFolder(path: string): boolean {
  return /^(?:[/\\]|[A-Za-z]:)/.test(path) || path.includes("\\") || path.split("/").includes("..");
}
