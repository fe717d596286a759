/** Returns the path of a folder that is named inside another one; null if the name leads elsewhere. */
export function canonicalFolder(outer: string, name: string): string | null {
  const names = name.split("/").filter((each) => each !== "" && each !== ".");
  if (names.length === 0 || names.includes("..") || name.startsWith("/")) return null;
  return outer === "." ? names.join("/") : `${outer}/${names.join("/")}`;
}
