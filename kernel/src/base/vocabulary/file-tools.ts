/** The kernel's own tools for files, by their names after `files/`, with the kind of change that each proposes; null: it reads. */
const kindOfFileTool = {
  read: null,
  list: null,
  search: null,
  write: "file.write",
  edit: "file.edit",
  move: "file.move",
  delete: "file.delete",
  create_folder: "folder.create",
} as const;

/** The tools for files that minds may use, with the permission that each needs. */
export const fileTools: readonly { readonly name: string; readonly proposes: string | null }[] =
  Object.entries(kindOfFileTool).map(([name, proposes]) => ({ name: `files/${name}`, proposes }));

/** Returns true if the pattern of tools names this tool: itself, or all of its owner's as `owner/*`. */
export function toolMatches(pattern: string, tool: string): boolean {
  return pattern === tool || (pattern.endsWith("/*") && tool.startsWith(pattern.slice(0, -1)));
}
