import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Where a workspace keeps the schemas that the first lines of its documents name. */
export const schemasFolder = join(".lares", "schemas");

/**
 * Writes a published schema beneath `folder`, for editors that know JSON Schema and not Lares, and answers with its path.
 * One that is there stays as it is.
 */
export async function writeSchema(
  folder: string,
  name: "lares.schema.json" | "extension.schema.json",
): Promise<string> {
  const { publishedDocumentSchemas } = await import("../documents/published.ts");
  const path = join(folder, schemasFolder, name);
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(path, `${JSON.stringify(publishedDocumentSchemas()[name], null, 2)}\n`, { flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return path;
}
