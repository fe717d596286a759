import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { neverAborted } from "../../base/abort.ts";
import { failpointNames } from "../../platform/failpoints.ts";
import { TestChild } from "../../platform/testing/child.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { readPackage, writePackage } from "../package-file.ts";
import { about, ours, someFiles, text } from "../testing/archives.ts";
import { changesOf, readInstalled } from "./installed.ts";
import { removePackage, stagePackage } from "./place.ts";

const modules = {
  "{ stagePackage, removePackage }": new URL("./place.ts", import.meta.url),
  "{ readPackage, writePackage }": new URL("../package-file.ts", import.meta.url),
  "{ about, ours, someFiles, text }": new URL("../testing/archives.ts", import.meta.url),
};
const install = `
  const files = new Map([...someFiles, ["agent.js", text("2")]]);
  await using staged = await stagePackage({ folder }, readPackage(writePackage({ ...about, version: "1.3.0" }, files, ours)), new AbortController().signal);
  await staged.activate();`;
const points = failpointNames.filter((name) => name.startsWith("package."));

test.each(
  points
    .filter((name) => name !== "package.removed")
    .flatMap((name) => [[name, true] as const, [name, false] as const]),
)(
  "dying at %s of an installation, over an older version: %s: there is the old version as a whole or the new one, and the next command cleans up",
  async (name, isUpdate) => {
    const folder = join(await temporaryFolder(), "extensions");
    const verified = readPackage(writePackage(about, someFiles, ours));
    if (isUpdate) {
      await using staged = await stagePackage({ folder }, verified, neverAborted);
      await staged.activate();
    }
    const child = new TestChild(`const folder = ${JSON.stringify(folder)};${install}`, {
      modules,
      failpoint: name,
    });
    expect(await child.ended()).toBe("SIGKILL");
    // The next command of any kind recovers the place.
    await removePackage({ folder }, "com.example.other");
    const names = await readdir(folder);
    if (!isUpdate && name !== "package.placed") return expect(names).toEqual([]);
    expect(names).toEqual([about.id]);
    const target = join(folder, about.id);
    const { record } = (await readInstalled(target))!;
    expect(record?.version).toBe(name === "package.placed" ? "1.3.0" : "1.2.0");
    expect(await changesOf(target, record!)).toEqual({ changed: [], missing: [], added: [] });
  },
);

test("dying at package.removed: the extension is gone and stays gone", async () => {
  const folder = join(await temporaryFolder(), "extensions");
  await using staged = await stagePackage(
    { folder },
    readPackage(writePackage(about, new Map([...someFiles, ["more.txt", text("x")]]), ours)),
    neverAborted,
  );
  expect(await readFile(join(await staged.activate(), "more.txt"), "utf8")).toBe("x");
  const child = new TestChild(`await removePackage({ folder: ${JSON.stringify(folder)} }, about.id);`, {
    modules,
    failpoint: "package.removed",
  });
  expect(await child.ended()).toBe("SIGKILL");
  await removePackage({ folder }, "com.example.other");
  expect(await readdir(folder)).toEqual([]);
});
