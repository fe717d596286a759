import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type IndexDescription, indexFileName } from "../manifest.ts";
import { readManifest } from "../save-index.ts";

/** Returns what the manifest in a folder says, without proof. Null if there is none. */
export async function savedIndex(folder: string): Promise<IndexDescription | null> {
  for (const described of (await readManifest(folder)) ?? []) {
    const path = join(folder, indexFileName(described.engine));
    const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null;
      throw error;
    });
    if (found?.size === described.bytes) return described;
  }
  return null;
}
