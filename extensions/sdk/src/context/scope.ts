/** Returns true if a path is in one of the granted folders ("." is the whole workspace). */
export function isInScope(path: string, locations: readonly string[]): boolean {
  const names = path.split("/");
  if (path === "" || path.startsWith("/") || names.includes("..")) return false;
  const canonical = names.filter((name) => name !== "" && name !== ".").join("/");
  return locations.some((location) => {
    const folder = location.replace(/^\.\//, "").replace(/(?<!\/)\/+$/, "");
    return folder === "." || folder === "" || canonical === folder || canonical.startsWith(`${folder}/`);
  });
}
