import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import { bundle, resources } from "../../composition/subsystems/resources.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { gitIgnored } from "../../workspace/git-ignored.ts";
import { Catalog } from "../catalog.ts";
import type { CatalogSnapshot } from "../catalog-snapshot.ts";
import { definitionsOf } from "../definitions.ts";
import { eventPorts } from "../event-ports.ts";
import type { computeInForce } from "../in-force.ts";
import { createProgramLoader } from "../programs.ts";
import { configurationInForce } from "../settings-in-force.ts";
import { WorkspaceDocuments } from "../workspace-documents.ts";

/** The text of a program that does nothing. */
export const program = `import { defineAgent } from "@lares/sdk";\nexport default defineAgent({});\n`;
export const manifest = { id: "dev.one", name: "One", version: "1.0.0" };

/** A workspace in a folder of its own, and what a person would be asked of it. */
export async function workspace(files: Record<string, string>) {
  const base = await temporaryFolder();
  const root = join(base, "workspace");
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  await mkdir(root);
  for (const [path, text] of Object.entries(files)) await write(path, text);
  const places = { roots: [root], userFolder: join(base, "user"), bundledExtensions: join(base, "none") };
  const documents = new WorkspaceDocuments({
    ...places,
    stateHome: join(base, "state"),
    defaultsFile: resources.defaults,
    environment: {},
    kernelVersion: "0.1.0",
    events: eventPorts(new ManualClock()),
  });
  const programs = createProgramLoader({ bundle, checkModule: async () => null, gitIgnored });
  const catalog = new Catalog({ ...places, documents, programs });
  return {
    base,
    root,
    write,
    load: () => catalog.load(false),
    link: (path: string, target: string) => symlink(target, join(root, path)),
    unlink: (path: string) => rm(join(root, path)),
  };
}

/** One extension in a folder of its own, with these parts of its manifest and its entry. */
export function documents(
  extension: object = {},
  entry: object = {},
  lares: object = {},
): Record<string, string> {
  return {
    "ext/extension.yaml": JSON.stringify({ extension: { ...manifest, ...extension } }),
    "ext/agent.ts": program,
    "lares.yaml": JSON.stringify({ extensions: [{ path: "./ext", ...entry }], ...lares }),
  };
}

/** The agents that may run, as far as the documents are in force. */
export function agentsInForce(snapshot: CatalogSnapshot, inForce: ReturnType<typeof computeInForce>) {
  const configuration = configurationInForce(snapshot, inForce.requests);
  return definitionsOf({ entries: inForce.entries, configuration }, inForce.requests, {
    clock: new ManualClock(),
    workspacePaths: () => [],
    namespaces: [],
    forbiddenPaths: [],
    protectedPaths: [],
  });
}
