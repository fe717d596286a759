import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { manifestNames } from "../../documents/names.ts";
import { makePrivateFolder, modelsFolder } from "../../platform/files/state-folder.ts";
import { UsageError } from "../command.ts";
import { playgroundManifest, publisherFiles } from "./agents.ts";
import { readTried, type Tried } from "./tried.ts";

/** A workspace of its own, with a state and a configuration that are temporary too. Disposing removes all of it. */
interface PlaygroundPlace extends AsyncDisposable {
  readonly workspace: string;
  /** The extension that is tried; null without one. */
  readonly tried: Tried | null;
  /** The file of answers that stands for all language models. */
  readonly script: string;
  /** The environment of its kernel. */
  readonly environment: Readonly<Record<string, string>>;
}

interface PlaygroundParts {
  readonly templatesFolder: string;
  /** The folder of the extension; null without one. */
  readonly extension: string | null;
  /** The .onnx files that stand for the extension's models, by their names. */
  readonly models: ReadonlyMap<string, Uint8Array>;
}

/**
 * Lays out an empty workspace with the agent that runs what is typed, the extension in a folder, and an agent in place of each
 * other extension whose events it waits for.
 */
export async function layOutPlayground({
  templatesFolder,
  extension,
  models,
}: PlaygroundParts): Promise<PlaygroundPlace> {
  const tried = extension === null ? null : await readTried(extension);
  if (extension !== null && tried === null)
    throw new UsageError(
      `${extension} is not an extension, because it contains no ${manifestNames.join(" or ")}. Name the folder of an extension.`,
    );
  const base = await realpath(await mkdtemp(join(tmpdir(), "lares-playground-")));
  const remove = (): Promise<void> =>
    rm(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  try {
    const [workspace, agents, home, configuration] = ["workspace", "agents", "home", "configuration"].map(
      (name) => join(base, name),
    ) as [string, string, string, string];
    await mkdir(workspace);
    await mkdir(home, { mode: 0o700 });
    // Beside the workspace, so that it has only the files that are made there.
    const document = join(configuration, "lares");
    await mkdir(document, { recursive: true });
    const template = join(templatesFolder, "playground");
    const read = (name: string): Promise<string> => readFile(join(template, `${name}.template`), "utf8");
    const written = [
      await writeAgent(agents, "playground", {
        "extension.yaml": playgroundManifest(await read("extension.yaml"), tried),
        "agent.ts": await read("agent.ts"),
      }),
    ];
    for (const [publisher, events] of tried?.heard ?? [])
      written.push(await writeAgent(agents, publisher, publisherFiles(publisher, events)));
    const entryOf = (folder: string, more: object = {}): object => ({
      path: relative(document, folder).split(sep).join("/"),
      grants: { locations: ["."] },
      ...more,
    });
    const environment = {
      LARES_HOME: home,
      LARES_KERNEL_LINGER: "0s",
      XDG_CONFIG_HOME: configuration,
      APPDATA: configuration,
    };
    const named = await keepModels(models, environment);
    const extensions = [
      ...written.map((folder) => entryOf(folder)),
      ...(extension === null ? [] : [entryOf(extension, named.length === 0 ? {} : { models: named })]),
    ];
    // JSON is YAML.
    await writeFile(join(document, "lares.yaml"), JSON.stringify({ version: 1, extensions }, null, 2));
    const script = join(base, "script.yaml");
    await writeFile(script, JSON.stringify({ turns: [] }));
    return {
      workspace,
      tried,
      script,
      environment: { ...environment, LARES_REHEARSE: script },
      [Symbol.asyncDispose]: remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function writeAgent(
  agents: string,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = join(agents, name);
  await mkdir(folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
  return folder;
}

/** Puts models where fetched ones are, so that nothing is fetched. Returns their entries for the document. */
async function keepModels(
  models: ReadonlyMap<string, Uint8Array>,
  environment: Readonly<Record<string, string>>,
): Promise<object[]> {
  const folders = [modelsFolder(environment), join(modelsFolder(environment), "sha256")];
  await mkdir(modelsFolder(environment), { recursive: true, mode: 0o700 });
  for (const folder of folders) await makePrivateFolder(folder);
  const entries: object[] = [];
  for (const [name, bytes] of models) {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    await writeFile(join(folders.at(-1) ?? "", `${sha256}.onnx`), bytes, { mode: 0o600 });
    const url = `https://playground.invalid/${sha256}.onnx`;
    entries.push({ name, source: { url }, sha256, size_mb: Math.ceil(bytes.length / 1024 / 1024) });
  }
  return entries;
}
