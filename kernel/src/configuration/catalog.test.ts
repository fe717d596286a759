import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { sha256 } from "../platform/files/hash.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { Catalog } from "./catalog.ts";
import { eventPorts } from "./event-ports.ts";
import { WorkspaceDocuments } from "./workspace-documents.ts";
import { createProgramLoader } from "./programs.ts";
import { resources } from "../composition/subsystems/resources.ts";

/** A workspace with one extension, whose module is these bytes. */
async function workspaceOf(module: string) {
  const root = await temporaryFolder();
  const extension = join(root, ".lares", "extensions", "one");
  await mkdir(extension, { recursive: true });
  await writeFile(
    join(extension, "extension.yaml"),
    "extension:\n  id: dev.one\n  name: One\n  version: 1.0.0\n",
  );
  const write = (text: string): Promise<void> => writeFile(join(extension, "agent.wasm"), text);
  await write(module);
  const places = { roots: [root], userFolder: join(root, "none"), bundledExtensions: join(root, "none") };
  const documents = new WorkspaceDocuments({
    ...places,
    defaultsFile: resources.defaults,
    environment: {},
    kernelVersion: "0.1.0",
    events: eventPorts(new ManualClock()),
  });
  const programs = createProgramLoader({
    bundle: async () => ({ ok: false, errors: [] }),
    checkModule: async () => "It imports what nobody has.",
    gitIgnored: async () => ({ paths: new Set(), fault: null }),
  });
  const catalog = new Catalog({ ...places, documents, programs });
  return { root, catalog, write };
}

test("the question is the same before and after an invalid module is found", async () => {
  const { catalog, write } = await workspaceOf("one");
  const [read, lookedInto] = [await catalog.load(false), await catalog.load(true)];
  expect(read.requests.extensions["dev.one"]?.program).toBe(sha256(new TextEncoder().encode("one")));
  expect(lookedInto.entries[0]?.program).toMatchObject({
    program: null,
    fault: "agent.wasm: It imports what nobody has.",
  });
  expect(lookedInto.digest).toBe(read.digest);
  await write("another");
  expect((await catalog.load(true)).digest).not.toBe(read.digest);
});

test("an unlisted manifest that cannot be read prevents nothing else from being read", async () => {
  const { catalog, root } = await workspaceOf("one");
  const texts = {
    merge: "extension: { id: dev.merge, name: M, version: !!merge x }\n",
    cyclic: "extension: &a { id: dev.cyclic, name: *a }\n",
    nested: Array.from({ length: 600 }, (_, depth) => `${" ".repeat(depth)}a:\n`).join(""),
    utf16: "\ufeffextension:\n",
  };
  for (const [name, text] of Object.entries(texts)) {
    const folder = join(root, ".lares", "extensions", name);
    await mkdir(folder);
    await writeFile(join(folder, "extension.yaml"), text, name === "utf16" ? "utf16le" : "utf8");
  }
  const { entries, faults } = await catalog.load(true);
  expect(entries.map(({ id }) => id)).toEqual(["dev.one"]);
  expect(faults.map((fault) => fault.slice(fault.indexOf("extension.yaml")))).toEqual([
    'extension.yaml:1:39: The alias "*a" is a part of what it stands for.',
    "extension.yaml:1:47: Unresolved tag: tag:yaml.org,2002:merge.",
    "extension.yaml:1:1: The document is more than 64 levels deep.",
    "extension.yaml:1:1: The file is encoded as UTF-16. Save it as UTF-8.",
  ]);
});
