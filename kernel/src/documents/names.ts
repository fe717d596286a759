/** The names a workspace's (or a user's) document may have; the first that exists counts. */
export const laresNames = ["lares.yaml", "lares.yml", "lares.toml"] as const;

/** The names a manifest may have; the first that exists in the extension's folder counts. */
export const manifestNames = ["extension.yaml", "extension.yml", "extension.toml"] as const;

/** What kind of document a file is, by its name. */
export function documentKind(file: string): "lares" | "manifest" | undefined {
  const name = file.slice(Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1);
  if ((laresNames as readonly string[]).includes(name)) return "lares";
  return (manifestNames as readonly string[]).includes(name) ? "manifest" : undefined;
}
