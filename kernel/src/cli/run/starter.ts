import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { isJsonObject } from "../../base/json.ts";
import { laresNames } from "../../documents/names.ts";
import type { CommandContext } from "../command.ts";
import { oneLine } from "../render/foreign.ts";
import { writeSchema } from "../schema-file.ts";

/** Returns true if the folder has a document, or if the person let one be written. */
export async function ensureDocument({ ports, terminal }: CommandContext, folder: string): Promise<boolean> {
  for (const name of laresNames) if (await isFile(join(folder, name))) return true;
  const starter = await readFile(join(ports.templatesFolder, "lares.yaml"), "utf8");
  const { style } = terminal.errorSurface;
  terminal.warn([
    `There is no lares.yaml in ${oneLine(folder)}.`,
    `A starter would enable: ${extensionsOf(starter).join(", ")}.`,
    style.dim("They see the whole folder, and change files only through proposals that you approve."),
  ]);
  if (!terminal.isInteractive) {
    terminal.warn("Run this at a terminal to create it, or write lares.yaml yourself.");
    return false;
  }
  if (!(await terminal.confirm("Write it?"))) return false;
  await writeSchema(folder, "lares.schema.json");
  // Never overwrites one that appeared meanwhile.
  await writeFile(join(folder, "lares.yaml"), starter, { flag: "wx" });
  return true;
}

function extensionsOf(document: string): string[] {
  const value: unknown = parse(document);
  const list = isJsonObject(value) && Array.isArray(value["extensions"]) ? value["extensions"] : [];
  return list.flatMap((one: unknown) =>
    isJsonObject(one) && typeof one["id"] === "string" ? [one["id"]] : [],
  );
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() === true;
}
