/** The file names of a workspace's or user's document; the first that exists is used. */
export const laresNames = ["lares.yaml", "lares.yml", "lares.toml"] as const;

/** The file names of a manifest; the first that exists in the extension's folder is used. */
export const manifestNames = ["extension.yaml", "extension.yml", "extension.toml"] as const;

/** Returns the kind of document from the file's name. */
export function documentKind(file: string): "lares" | "manifest" | undefined {
  const name = file.slice(Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1);
  if ((laresNames as readonly string[]).includes(name)) return "lares";
  return (manifestNames as readonly string[]).includes(name) ? "manifest" : undefined;
}
