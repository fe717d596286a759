import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { removeLeftoverTemporaries, writeFileAtomically } from "./atomic-file.ts";
import { failpointNames } from "../failpoints.ts";
import { TestChild } from "../testing/child.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

test("the content is replaced, with the given mode, and nothing else is left in the folder", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "a.json");
  await writeFileAtomically(path, "old");
  await writeFileAtomically(path, new TextEncoder().encode("new"), { mode: 0o640 });
  expect(await readFile(path, "utf8")).toBe("new");
  expect((await stat(path)).mode & 0o777).toBe(0o640);
  expect(await readdir(folder)).toEqual(["a.json"]);
});

test("a target that cannot be replaced rejects and leaves no temporary file", async () => {
  const folder = await temporaryFolder();
  await writeFileAtomically(join(folder, "taken"), "x");
  await expect(writeFileAtomically(join(folder, "taken", "a"), "y")).rejects.toThrow();
  await expect(writeFileAtomically(folder, "y")).rejects.toThrow();
  expect(await readdir(folder)).toEqual(["taken"]);
});

const points = failpointNames.filter((name) => name.startsWith("atomic-file."));
test.each(points)(
  "dying at %s leaves the complete old or new content, and other remains are removed",
  async (name) => {
    const folder = await temporaryFolder();
    const path = join(folder, "a.json");
    await writeFile(path, "old");
    const child = new TestChild(`await writeFileAtomically(${JSON.stringify(path)}, "new content");`, {
      modules: { "{ writeFileAtomically }": new URL("./atomic-file.ts", import.meta.url) },
      failpoint: name,
    });
    expect(await child.ended()).toBe("SIGKILL");
    const isAfterRename = points.indexOf(name) >= points.indexOf("atomic-file.renamed");
    expect(await readFile(path, "utf8")).toBe(isAfterRename ? "new content" : "old");
    await writeFile(join(folder, ".mine.tmp"), "somebody else's");
    await removeLeftoverTemporaries(folder);
    expect((await readdir(folder)).toSorted()).toEqual([".mine.tmp", "a.json"]);
  },
);
