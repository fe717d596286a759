import { execFileSync } from "node:child_process";
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { neverAborted } from "../../base/abort.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { readPackage, writePackage } from "../package-file.ts";
import { about, ours, someFiles, text } from "../testing/archives.ts";
import { changesOf, packagesIn, readInstalled } from "./installed.ts";
import { recoverPlace, removePackage, stagePackage, type Place } from "./place.ts";

const first = readPackage(writePackage(about, someFiles, ours));
const second = readPackage(
  writePackage({ ...about, version: "1.3.0" }, new Map([...someFiles, ["agent.js", text("2")]]), ours),
);
async function installed(place: Place, verified = first): Promise<string> {
  await using staged = await stagePackage(place, verified, neverAborted);
  return await staged.activate();
}
const userPlace = async (): Promise<Place> => ({ folder: join(await temporaryFolder(), "extensions") });

test("an installed package has exactly its files, and nothing else is beside it", async () => {
  const place = await userPlace();
  const before = process.umask(0);
  const folder = await installed(place).finally(() => process.umask(before));
  expect(await readdir(place.folder)).toEqual([about.id]);
  expect((await readdir(folder, { recursive: true })).toSorted()).toEqual([
    "PACKAGE.json",
    "agent.js",
    "extension.yaml",
    "prompts",
    join("prompts", "größe.md"),
  ]);
  expect((await stat(join(folder, "agent.js"))).mode & 0o777).toBe(0o644);
  const { record } = (await readInstalled(folder))!;
  expect(record).toEqual(first.record);
  expect(await changesOf(folder, record!)).toEqual({ changed: [], missing: [], added: [] });
});

test("an update replaces the folder as a whole", async () => {
  const place = await userPlace();
  const folder = await installed(place);
  await writeFile(join(folder, "old.txt"), "left");
  await installed(place, second);
  expect(await readdir(place.folder)).toEqual([about.id]);
  expect((await readdir(folder)).includes("old.txt")).toBe(false);
  expect(await readFile(join(folder, "agent.js"), "utf8")).toBe("2");
});

test("what a stranger prepared as the rest of an installation is neither followed nor read without end", async () => {
  const outside = await temporaryFolder();
  await writeFile(join(outside, "id"), about.id);
  const place = await userPlace();
  for (const name of [".installing-pipe", ".installing-endless", ".installing-long"])
    await mkdir(join(place.folder, name), { recursive: true });
  execFileSync("mkfifo", [join(place.folder, ".installing-pipe", "id")]);
  await symlink("/dev/zero", join(place.folder, ".installing-endless", "id"));
  await writeFile(join(place.folder, ".installing-long", "id"), "a.b".padEnd(100_000, "c"));
  await mkdir(join(outside, "old"));
  await symlink(outside, join(place.folder, ".installing-link"));
  await recoverPlace(place.folder);
  expect(await readdir(place.folder)).toEqual([]);
  expect((await readdir(outside)).toSorted()).toEqual(["id", "old"]);
});

test("a package that is staged and not activated leaves nothing, nor does one that is aborted", async () => {
  const place = await userPlace();
  {
    await using _staged = await stagePackage(place, first, neverAborted);
    expect((await readdir(place.folder)).length).toBe(1);
    expect(await packagesIn(place.folder)).toEqual([]);
  }
  expect(await readdir(place.folder)).toEqual([]);
  await expect(stagePackage(place, first, AbortSignal.abort())).rejects.toThrow("aborted");
  expect(await readdir(place.folder)).toEqual([]);
});

test("a folder that no package made is neither replaced nor removed", async () => {
  const place = await userPlace();
  const folder = join(place.folder, about.id);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "agent.ts"), "mine");
  await expect(installed(place)).rejects.toThrow("was not installed from a package");
  await expect(removePackage(place, about.id)).rejects.toThrow("was not installed from a package");
  expect(await readFile(join(folder, "agent.ts"), "utf8")).toBe("mine");
  expect(await readdir(place.folder)).toEqual([about.id]);
});

test("a link in place of the folder is not followed", async () => {
  const place = await userPlace();
  const elsewhere = await temporaryFolder();
  await writeFile(join(elsewhere, "PACKAGE.json"), "{}");
  await mkdir(place.folder, { recursive: true });
  await symlink(elsewhere, join(place.folder, about.id));
  await expect(installed(place)).rejects.toThrow("was not installed from a package");
  expect(await readdir(elsewhere)).toEqual(["PACKAGE.json"]);
});

test.each([".lares", join(".lares", "extensions")])(
  "nothing is installed through a workspace's link %s that leads out of it",
  async (name) => {
    const within = await temporaryFolder();
    const elsewhere = await temporaryFolder();
    await mkdir(join(within, ".lares"), { recursive: true });
    await rm(join(within, name), { recursive: true, force: true });
    await symlink(elsewhere, join(within, name));
    const place = { folder: join(within, ".lares", "extensions"), within };
    await expect(installed(place)).rejects.toThrow("leads out of the workspace");
    await expect(removePackage(place, about.id)).rejects.toThrow("leads out of the workspace");
    expect(await readdir(elsewhere)).toEqual([]);
  },
);

test("a removed package is gone, and one that is not there is no error", async () => {
  const place = await userPlace();
  await installed(place);
  expect(await removePackage(place, about.id)).toBe(true);
  expect(await readdir(place.folder)).toEqual([]);
  expect(await removePackage(place, about.id)).toBe(false);
  expect(await removePackage(place, "../x")).toBe(false);
});

test("a version that an interrupted update moved away is restored; what a stranger left is not followed", async () => {
  const place = await userPlace();
  const elsewhere = await temporaryFolder();
  await writeFile(join(elsewhere, "mine"), "x");
  for (const [name, id] of [
    ["a", "../../outside"],
    ["b", "com.example.b"],
  ] as const) {
    const staging = join(place.folder, `.installing-${name}`);
    await mkdir(join(staging, "old"), { recursive: true });
    await writeFile(join(staging, "id"), id);
    await writeFile(join(staging, "old", "kept"), name);
  }
  await symlink(elsewhere, join(place.folder, ".installing-c"));
  await recoverPlace(place.folder);
  expect(await readdir(place.folder)).toEqual(["com.example.b"]);
  expect(await readFile(join(place.folder, "com.example.b", "kept"), "utf8")).toBe("b");
  expect(await readdir(elsewhere)).toEqual(["mine"]);
});

test("every change of an installed folder is found", async () => {
  const folder = await installed(await userPlace());
  const { record } = (await readInstalled(folder))!;
  await writeFile(join(folder, "agent.js"), "changed");
  await rm(join(folder, "extension.yaml"));
  await symlink("/etc/hostname", join(folder, "link"));
  await rm(join(folder, "prompts", "größe.md"));
  await symlink("../agent.js", join(folder, "prompts", "größe.md"));
  await writeFile(join(folder, "prompts", "more.md"), "x");
  expect(await changesOf(folder, record!)).toEqual({
    changed: ["agent.js", "prompts/größe.md"],
    missing: ["extension.yaml"],
    added: ["link", "prompts/more.md"],
  });
});

test("a record that was changed after the installation says so", async () => {
  const folder = await installed(await userPlace());
  const path = join(folder, "PACKAGE.json");
  await chmod(path, 0o644);
  await writeFile(path, (await readFile(path, "utf8")).replace("1.2.0", "9.9.9"));
  expect(await readInstalled(folder)).toMatchObject({
    record: null,
    fault: expect.stringContaining("signature"),
  });
});
