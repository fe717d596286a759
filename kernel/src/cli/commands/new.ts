import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { laresNames } from "../../documents/names.ts";
import { exitCodes, UsageError, type CommandContext } from "../command.ts";
import { writeSchema } from "../schema-file.ts";
import type { Style } from "../render/style.ts";

interface NewOptions {
  readonly id?: string;
  readonly template?: string;
  readonly json?: boolean;
}

interface Template {
  /** Beneath `manifests/templates`. */
  readonly folder: string;
  /** The commands, in its folder, that make its program; absent if there is nothing to build. */
  readonly build?: string;
  /** True if `lares test` runs its tests. */
  readonly isTestedByLares?: true;
}

/** The templates for extensions, by language; `mind`: people can talk to it, and there is no code. */
const templates: Readonly<Record<string, Template>> = {
  ts: { folder: "extension-typescript", isTestedByLares: true },
  mind: { folder: "extension-mind" },
  assemblyscript: { folder: "extension-assemblyscript", build: "npm install && npm run build" },
  c: { folder: "extension-c", build: "make" },
  go: { folder: "extension-go", build: "make" },
  rust: { folder: "extension-rust", build: "make" },
};
const templateNames: readonly string[] = Object.keys(templates);

const idPattern = /^[a-z0-9]+[.-][a-z0-9-]+(?:\.[a-z0-9-]+)*$/;

/**
 * Creates an extension: beneath `.lares/extensions/` if the current folder is a workspace, otherwise in
 * the current folder. A name with a slash is used as a path.
 */
export async function newExtension(
  { ports, terminal }: CommandContext,
  name: string,
  options: NewOptions,
): Promise<number> {
  const chosen = templateNamed(options.template ?? "ts");
  const template = join(ports.templatesFolder, chosen.folder);
  const word = basename(name);
  if (!/^[a-z][a-z0-9-]*$/.test(word)) {
    throw new UsageError(
      `"${word}" is not a name for an extension. Use lower case letters, digits and "-", such as "photo-sorter".`,
    );
  }
  const id = options.id ?? `local.${word}`;
  if (!idPattern.test(id))
    throw new UsageError(
      `"${id}" is not an id. Write it like a reversed domain name, such as com.example.${word}.`,
    );
  const isWorkspace = (await Promise.all(laresNames.map(exists))).includes(true);
  const folder = resolve(name.includes("/") ? name : isWorkspace ? join(".lares", "extensions", word) : word);
  if (await exists(folder))
    throw new UsageError(`${folder} exists already, so nothing was written. Choose another name.`);

  await mkdir(folder, { recursive: true });
  // Uses the schema of the workspace if the extension lies inside one; otherwise the extension gets its own copy.
  const isWithin = isWorkspace && !relative(process.cwd(), folder).startsWith("..");
  const schema = await writeSchema(isWithin ? process.cwd() : folder, "extension.schema.json");
  const values = {
    id,
    name: word,
    title: titleOf(word),
    schema: relative(folder, schema).split(sep).join("/"),
  };
  const written: string[] = [];
  const files = await readdir(template, { recursive: true, withFileTypes: true });
  for (const { parentPath, name: fileName } of files.filter((entry) => entry.isFile())) {
    const file = relative(template, join(parentPath, fileName));
    const target = join(folder, file.replace(/\.template$/, ""));
    await mkdir(dirname(target), { recursive: true });
    // Never overwrites a file that appeared meanwhile.
    await writeFile(target, fill(await readFile(join(template, file), "utf8"), values), { flag: "wx" });
    written.push(target);
  }
  if (options.json === true) {
    terminal.json({ id, folder, files: written });
    return exitCodes.ok;
  }
  const { style } = terminal.surface;
  const near = relative(process.cwd(), folder) || ".";
  const place: Place = name.includes("/") || !isWorkspace ? { path: near } : { id };
  terminal.print([
    `${style.green("✓")} ${style.bold(id)} in ${near}/`,
    ...written.map((path) => `    ${relative(folder, path)}`),
    "",
    ...nextSteps(place, isWorkspace),
    "",
    ...whatNext(chosen, id, near, style),
  ]);
  return exitCodes.ok;
}

type Place = { readonly path: string } | { readonly id: string };

/** Returns how to make the extension known to the kernel. */
function nextSteps(place: Place, isWorkspace: boolean): string[] {
  const entry = (location: string): string[] => [
    "    extensions:",
    `      - ${"id" in place ? `id: ${place.id}` : `path: ${place.path}`}`,
    `        grants: { locations: ["${location}"] }`,
  ];
  if ("id" in place) {
    return [
      "Extensions in .lares/extensions are found automatically, and see the whole workspace once you accept them.",
      "To restrict this one to a folder, name it in lares.yaml:",
      ...entry("notes/"),
    ];
  }
  return isWorkspace
    ? ["Name it in lares.yaml:", ...entry(".")]
    : ["Write a lares.yaml here that names it:", "    version: 1", ...entry(".")];
}

function whatNext({ build, isTestedByLares }: Template, id: string, near: string, style: Style): string[] {
  const watch = style.bold("lares run --watch");
  if (build !== undefined)
    return [
      `Build it:  ${style.bold(near === "." ? build : `cd ${near} && ${build}`)}`,
      `Test it:   ${style.bold(`lares conformance ${near}`)}; its README.md names its own tests`,
      `Start it:  ${watch}, and save a note: echo milk > groceries.md`,
    ];
  if (isTestedByLares === true)
    return [
      `Test it:   ${style.bold(`lares test ${near}`)}`,
      `Start it:  ${watch}, and save a note without a heading: echo milk > groceries.md`,
    ];
  // Only a mind has nothing to build and no tests.
  return [`Check it:    ${style.bold("lares check")}`, `Talk to it:  ${style.bold(`lares chat ${id}`)}`];
}

function templateNamed(name: string): Template {
  const template = Object.hasOwn(templates, name) ? templates[name] : undefined;
  if (template !== undefined) return template;
  const names = templateNames.join(", ");
  throw new UsageError(
    /[\\/]/.test(name)
      ? `"${name}" is a path, and a template is chosen by its name. Use one of ${names}.`
      : `There is no template "${name}". Use one of ${names}.`,
  );
}

/** Replaces `{{key}}`; throws for a key without a value, which is an error in the template. */
function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (_, key: string) => {
    const value = values[key];
    if (value === undefined) throw new Error(`The template has an unknown placeholder {{${key}}}.`);
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
