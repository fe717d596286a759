import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { workspaceFolders } from "./workspace-folders.ts";

let base: string;
beforeEach(async () => {
  base = await realpath(await temporaryFolder());
  for (const path of ["one/notes/old", "two/photos"]) await mkdir(join(base, path), { recursive: true });
  await writeFile(join(base, "one/file"), "");
});

it.each<[string, readonly string[], string, string, readonly string[]]>([
  ["all of one root", ["one"], ".", "folder", ["notes"]],
  ["a folder of one root", ["one"], "notes", "folder", ["old"]],
  ["no folder", ["one"], "file", "other", []],
  ["one that is not there", ["one"], "photos", "missing", []],
  ["one that leads out", ["one"], "../two", "outside", []],
  ["all of several roots", ["two", "one"], ".", "folder", ["one", "two"]],
  ["one of several roots", ["one", "two"], "two", "folder", ["photos"]],
  ["a folder of the second root", ["one", "two"], "two/photos", "folder", []],
  ["a folder without its root's name", ["one", "two"], "notes", "missing", []],
  ["one that leads from one root to another", ["one", "two"], "one/../two", "outside", []],
])("%s", async (_name, roots, path, state, folders) => {
  const found = workspaceFolders(roots.map((root) => join(base, root)));
  expect(await found.state(path)).toBe(state);
  expect(await found.list(path)).toEqual(folders);
});
