import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns everything beneath a folder, without following links, for comparisons: a file's mode, time and text;
 * "folder"; "link". Omits the time of folders, which changes with their names.
 */
export function folderSnapshot(folder: string, prefix = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const name = prefix + entry.name;
    if (entry.isDirectory()) Object.assign(found, { [name]: "folder" }, folderSnapshot(path, `${name}/`));
    else if (!entry.isFile()) found[name] = "link";
    else {
      const { mode, mtimeMs } = lstatSync(path);
      found[name] = `${(mode & 0o777).toString(8)} ${mtimeMs} ${readFileSync(path, "utf8")}`;
    }
  }
  return found;
}
