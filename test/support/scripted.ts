import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Bench } from "./bench.ts";

/**
 * Gives the bench's person a document of their own, whose only model follows this script (YAML or JSON). Returns the
 * environment in which a kernel reads it.
 */
export async function scriptedModel(bench: Bench, script: string): Promise<{ XDG_CONFIG_HOME: string }> {
  const config = join(bench.base, "config");
  const folder = join(config, "lares");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "script.yaml"), script);
  const models = { providers: { script: { api: "scripted", script: "script.yaml" } } };
  await writeFile(join(folder, "lares.yaml"), JSON.stringify({ version: 1, models }));
  return { XDG_CONFIG_HOME: config };
}
