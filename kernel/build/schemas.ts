/**
 * Writes the published JSON Schemas into `schemas/`; with `--check` it fails where they are out of date.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { publishedDocumentSchemas } from "../src/documents/published.ts";
import { publishedSchemas } from "../src/protocol/published.ts";

const folder = join(import.meta.dirname, "..", "..", "schemas");
const check = process.argv.includes("--check");
const stale: string[] = [];

await mkdir(folder, { recursive: true });
for (const [name, schema] of Object.entries({ ...publishedDocumentSchemas(), ...publishedSchemas() })) {
  const path = join(folder, name);
  const text = `${JSON.stringify(schema, null, 2)}\n`;
  const present = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (present === text) continue;
  if (check) stale.push(name);
  else await writeFile(path, text);
}
if (stale.length > 0) {
  console.error(`Out of date in schemas/: ${stale.join(", ")}. Run: npm run build:schemas`);
  process.exitCode = 1;
}
