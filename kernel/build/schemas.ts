/**
 * Writes what is generated into `schemas/`: the JSON Schemas, and the reference texts from the same sources. With
 * `--check` it fails if they are out of date.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { generatedTexts, schemasFolder } from "./reference/texts.ts";

const check = process.argv.includes("--check");
const stale: string[] = [];

await mkdir(schemasFolder, { recursive: true });
for (const [name, text] of Object.entries(await generatedTexts())) {
  const path = join(schemasFolder, name);
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
