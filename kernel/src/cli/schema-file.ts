import { systemCode } from "../base/errors.ts";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The folder of the schemas that the first lines of a workspace's documents name. */
const schemasFolder = join(".lares", "schemas");

/**
 * Writes a published schema beneath `folder`, for editors that know JSON Schema but not Lares, and returns its path. An
 * existing file is not changed.
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
    if (systemCode(error) !== "EEXIST") throw error;
  }
  return path;
}
