import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import { laresNames } from "../../documents/names.ts";
import { exitCodes, UsageError, type CommandContext } from "../command.ts";

export interface NewOptions {
  readonly id?: string;
  readonly json?: boolean;
}

const idPattern = /^[a-z0-9]+([.-][a-z0-9-]+)+$/;

/**
 * Writes an extension in TypeScript: beneath `.lares/extensions/` where the current folder is a workspace, else here.
 * A name with a slash is a path and taken as it is.
 */
export async function newExtension(
  { ports, terminal }: CommandContext,
  name: string,
  options: NewOptions,
): Promise<number> {
  const word = basename(name);
  if (!/^[a-z][a-z0-9-]*$/.test(word)) {
    throw new UsageError(
      `"${word}" is no name for an extension: lower case letters, digits and "-", as in "photo-sorter".`,
    );
  }
  const id = options.id ?? `local.${word}`;
  if (!idPattern.test(id))
    throw new UsageError(`"${id}" is no id: write it like a domain in reverse, as in com.example.${word}.`);
  const isWorkspace = (await Promise.all(laresNames.map(exists))).includes(true);
  const folder = resolve(name.includes("/") ? name : isWorkspace ? join(".lares", "extensions", word) : word);
  if (await exists(folder)) throw new UsageError(`${folder} exists already; nothing was written.`);

  const template = join(ports.templatesFolder, "extension-typescript");
  const values = { id, name: word, title: titleOf(word) };
  await mkdir(folder, { recursive: true });
  const written: string[] = [];
  for (const file of await readdir(template)) {
    const target = join(folder, file.replace(/\.template$/, ""));
    // Never over a file that appeared in between.
    await writeFile(target, fill(await readFile(join(template, file), "utf8"), values), { flag: "wx" });
    written.push(target);
  }
  if (options.json === true) {
    terminal.json({ id, folder, files: written });
    return exitCodes.ok;
  }
  const { style } = terminal.surface;
  const near = relative(process.cwd(), folder) || ".";
  terminal.print([
    `${style.green("✓")} ${style.bold(id)} in ${near}/`,
    ...written.map((path) => `    ${relative(folder, path)}`),
    "",
    "Name it in lares.yaml:",
    `    extensions:`,
    `      - ${isWorkspace && !name.includes("/") ? `id: ${id}` : `path: ${near}`}`,
    `        grants: { locations: ["."] }`,
    `and start it: ${style.bold("lares run")}`,
  ]);
  return exitCodes.ok;
}

/** Replaces `{{key}}`; a key that is not among the values is a fault of the template. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (_, key: string) => {
    const value = values[key];
    if (value === undefined) throw new Error(`The template wants {{${key}}}, which is unknown.`);
    return value;
  });
}

function titleOf(word: string): string {
  const spaced = word.replaceAll("-", " ");
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}
