import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { resources } from "../composition/subsystems/resources.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { eventPorts } from "./event-ports.ts";
import { ObservedFiles } from "./observed-files.ts";
import { WorkspaceDocuments } from "./workspace-documents.ts";

const valid = "version: 1\napprovals: { rules: [{ kind: file.write, decide: deny }] }\n";
const faulty = "version: 1\napprovals: { rules: [{ action: file.write, decide: deny }] }\n";

async function userFolder() {
  const base = await temporaryFolder();
  const folder = join(base, "user");
  await mkdir(folder);
  const documents = new WorkspaceDocuments({
    roots: [base],
    userFolder: folder,
    bundledExtensions: join(base, "none"),
    defaultsFile: resources.defaults,
    environment: {},
    kernelVersion: "0.1.0",
    events: eventPorts(new ManualClock()),
  });
  return {
    folder,
    write: (text: string, name = "lares.yaml") => writeFile(join(folder, name), text),
    remove: () => rm(join(folder, "lares.yaml")),
    read: async () => {
      const files = new ObservedFiles();
      const faults: string[] = [];
      const { resolved } = await documents.resolve(files, documents.createFinder(files), faults);
      return { rules: resolved.value.approvals.rules.map(({ kind, decide }) => [kind, decide]), faults };
    },
  };
}

test.each(["lares.yaml", "lares.toml"])(
  "a %s of the user that has a fault from the beginning: every change is refused, and the fault is named",
  async (name) => {
    const { write, read } = await userFolder();
    await write(name.endsWith("toml") ? 'version = 1\nlimit = "none"\n' : faulty, name);
    const { rules, faults } = await read();
    expect(rules).toContainEqual([undefined, "deny"]);
    expect(faults).toEqual([expect.stringContaining(name)]);
  },
);

test("a user's document that nobody can read counts as one with a fault", async () => {
  const { folder, read } = await userFolder();
  await mkdir(join(folder, "lares.yaml"));
  const { rules, faults } = await read();
  expect(rules).toContainEqual([undefined, "deny"]);
  expect(faults).toEqual([expect.stringContaining("cannot be read")]);
});

test("a user's document that gets a fault while it is edited counts as it was, until it is right or gone", async () => {
  const { write, remove, read } = await userFolder();
  const refusal = ["file.write", "deny"];
  await write(valid);
  expect((await read()).rules).toContainEqual(refusal);
  await write(faulty);
  expect((await read()).rules).toContainEqual(refusal);
  expect((await read()).faults).toHaveLength(1);
  await write("version: 1\n");
  expect((await read()).rules).not.toContainEqual(refusal);
  await write(faulty);
  expect((await read()).rules).not.toContainEqual([undefined, "deny"]);
  await write(valid);
  await read();
  // As an editor writes it: the old file is moved away first.
  await remove();
  expect(await read()).toMatchObject({ faults: [] });
  expect((await read()).rules).not.toContainEqual(refusal);
  await write(faulty);
  expect((await read()).rules).toContainEqual(refusal);
});
