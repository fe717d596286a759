import { glob, readFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify } from "smol-toml";
import { parse } from "yaml";

const checkout = fileURLToPath(new URL("../../../", import.meta.url));

/** A document of this repository that should be valid. */
export interface Document {
  /** Where it takes effect, relative to the folder that contains `schemas/`. */
  readonly path: string;
  /** Its first line names its schema. */
  readonly text: string;
}

const folders = ["examples", "extensions", "kernel/src/documents/fixtures", "test/e2e/{,workspace/.lares/}"];
const isLeftOut = (path: string): boolean => /(^|\/)(node_modules|dist|artefacts)(\/|$)/.test(path);

/** Templates come first. */
export async function allDocuments(): Promise<Document[]> {
  const paths = await Array.fromAsync(
    glob(
      folders.map((folder) => `${folder}/**/{lares,extension}.{yaml,yml,toml}`),
      {
        cwd: checkout,
        exclude: isLeftOut,
      },
    ),
  );
  const textOf = (path: string): Promise<string> => readFile(join(checkout, path), "utf8");
  return [
    { path: "lares.yaml", text: await textOf("manifests/templates/lares.yaml") },
    { path: "in-vscode/lares.yaml", text: await textOf("vscode-client/media/starter/lares.yaml") },
    {
      path: ".lares/extensions/sample/extension.yaml",
      text: filled(await textOf("manifests/templates/extension-typescript/extension.yaml.template")),
    },
    ...(await Promise.all(
      paths.toSorted().map(async (path) => ({ path, text: withModeline(path, await textOf(path)) })),
    )),
  ];
}

/** As `lares new` fills it in. */
function filled(template: string): string {
  const values = {
    schema: "../../schemas/extension.schema.json",
    id: "local.sample",
    name: "sample",
    title: "Sample",
  };
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, key: keyof typeof values) => values[key]);
}

function withModeline(path: string, text: string): string {
  if (text.startsWith("# yaml-language-server: ")) return text;
  const [kind] = basename(path).split(".");
  const schema = relative(dirname(path), `schemas/${kind}.schema.json`);
  return `${path.endsWith(".toml") ? "#:schema " : "# yaml-language-server: $schema="}${schema}\n${text}`;
}

/** The same in TOML, its modeline included. */
export function inToml({ path, text }: Document): Document {
  if (path.endsWith(".toml")) return { path, text };
  const schema = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text)?.[1];
  if (schema === undefined) throw new Error(`${path} names no schema`);
  return {
    path: path.replace(/\.ya?ml$/, ".toml"),
    text: `#:schema ${schema}\n${stringify(parse(text) as object)}`,
  };
}
