import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { protectedByName } from "../policy/protected.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { commandLinePorts } from "../composition/command-line.ts";

const { explain } = commandLinePorts("1.0.0", { command: "node", args: [] } as never, async () => 0);

async function workspace(document: string): Promise<string> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "agents", "tidy"), { recursive: true });
  await writeFile(join(folder, "lares.yaml"), document);
  await writeFile(
    join(folder, "agents", "tidy", "extension.yaml"),
    "extension: { id: dev.test.tidy, name: Tidy, version: 1.0.0, main: main.ts }\n",
  );
  await writeFile(join(folder, "agents", "tidy", "main.ts"), "");
  return folder;
}

test("the folder of an extension that the workspace names is explained as protected, by its path", async () => {
  const folder = await workspace("version: 1\nextensions:\n  - path: agents/tidy\n");
  const added = (await explain(folder)).protected.slice(protectedByName.length);
  expect(added).toEqual([
    {
      reason: "It holds programs of extensions, or your own configuration of Lares.",
      folders: ["agents/tidy"],
      files: [],
    },
  ]);
});

test("a workspace that names no extension of its own adds no protected place", async () => {
  const folder = await workspace("version: 1\n");
  expect((await explain(folder)).protected).toEqual(protectedByName);
});
