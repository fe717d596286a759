import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../../kernel/src/base/errors.ts";

/** Returns the paths of all files beneath a folder that hold a text, as bytes: no kernel is asked. */
export async function filesWith(folder: string, text: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const file of files) {
    if (!file.isFile()) continue;
    const path = join(file.parentPath, file.name);
    // Databases remove their journals meanwhile.
    const content = await readFile(path).catch((error: unknown) => {
      if (systemCode(error) === "ENOENT") return null;
      throw error;
    });
    if (content?.includes(text) === true) found.push(path);
  }
  return found;
}
