import { systemCode } from "../base/errors.ts";
import { lstat, mkdir, realpath, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isWithin } from "../platform/files/paths.ts";

/** The folder of the schemas that the first lines of a workspace's documents name. */
const schemasFolder = join(".lares", "schemas");

/**
 * Writes a published schema beneath `folder`, for editors that know JSON Schema but not Lares, and returns its path. An
 * existing file is not changed, and nothing is written where a link leads out of the folder: it may be a stranger's.
 */
export async function writeSchema(
  folder: string,
  name: "lares.schema.json" | "extension.schema.json",
): Promise<string> {
  const { publishedDocumentSchemas } = await import("../documents/published.ts");
  const path = join(folder, schemasFolder, name);
  await mkdir(folder, { recursive: true });
  if (await leadsOut(folder)) return path;
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(path, `${JSON.stringify(publishedDocumentSchemas()[name], null, 2)}\n`, { flag: "wx" });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
  return path;
}

async function leadsOut(folder: string): Promise<boolean> {
  const root = await realpath(folder);
  for (const step of [dirname(schemasFolder), schemasFolder]) {
    const path = join(folder, step);
    const isThere = await lstat(path).then(
      () => true,
      () => false,
    );
    const real = await realpath(path).catch(() => null);
    if (isThere && (real === null || !isWithin(root, real))) return true;
  }
  return false;
}
