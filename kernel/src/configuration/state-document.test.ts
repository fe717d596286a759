import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { resources } from "../composition/subsystems/resources.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { eventPorts } from "./event-ports.ts";
import { ObservedFiles } from "./observed-files.ts";
import { WorkspaceDocuments } from "./workspace-documents.ts";

test("the document in a workspace's state is used until a root has one of its own, and both places are watched", async () => {
  const base = await temporaryFolder();
  const [root, stateFolder] = [join(base, "root"), join(base, "state")];
  await mkdir(root);
  await mkdir(stateFolder);
  const documents = new WorkspaceDocuments({
    roots: [root],
    stateFolder,
    userFolder: join(base, "user"),
    bundledExtensions: join(base, "none"),
    defaultsFile: resources.defaults,
    environment: {},
    kernelVersion: "0.1.0",
    events: eventPorts(new ManualClock()),
  });
  const used = async (): Promise<string | undefined> => {
    const files = new ObservedFiles();
    const found = await documents.workspaceDocument(files);
    expect(files.paths).toContain(join(root, "lares.yaml"));
    return found?.file;
  };
  expect(await used()).toBeUndefined();
  await writeFile(join(stateFolder, "lares.yaml"), "version: 1\n");
  expect(await used()).toBe(join(stateFolder, "lares.yaml"));
  await writeFile(join(root, "lares.yaml"), "version: 1\n");
  expect(await used()).toBe(join(root, "lares.yaml"));
  await rm(join(root, "lares.yaml"));
  expect(await used()).toBe(join(stateFolder, "lares.yaml"));
});
