import { cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { stateFolderOf, stateFolderPath } from "./state-folder.ts";
import { adoptableState, adoptState } from "./workspace-record.ts";

let base = "";
let environment: { LARES_HOME: string };

beforeEach(async () => {
  base = await temporaryFolder();
  environment = { LARES_HOME: join(base, "home") };
});

/** A workspace with a state, a document and grants. */
async function used(name: string): Promise<{ root: string; state: string }> {
  const root = join(base, name);
  await mkdir(root);
  const state = await stateFolderOf([root], environment);
  await writeFile(join(state, "ledger.sqlite"), name);
  await writeFile(join(state, "decisions.yaml"), "rules: []\n");
  return { root, state };
}
const found = async (root: string) => adoptableState(root, await stateFolderPath([root], environment));
const adopt = async (root: string) => adoptState(root, await stateFolderPath([root], environment), 7);

test("a renamed folder is recognised, and gets its state without what was allowed", async () => {
  const { root, state } = await used("notes");
  const renamed = join(base, "letters");
  await rename(root, renamed);
  expect(await found(renamed)).toEqual({ stateFolder: state, before: root });
  expect(await adopt(renamed)).toMatchObject({ before: root, setAside: null });
  const own = await stateFolderPath([renamed], environment);
  expect(await readFile(join(own, "ledger.sqlite"), "utf8")).toBe("notes");
  expect(await readdir(own)).toContain("decisions.yaml.before-adoption-7");
  expect(await readdir(own)).not.toContain("decisions.yaml");
  expect(await readdir(join(environment.LARES_HOME, "workspaces"))).toHaveLength(1);
  expect(await found(renamed)).toBeNull();
  // Renamed again, it is recognised again.
  await rename(renamed, root);
  expect(await found(root)).toMatchObject({ before: renamed });
});

test("the state that the new path has already is set aside, not lost", async () => {
  const { root } = await used("notes");
  const renamed = join(base, "letters");
  await rename(root, renamed);
  const own = await stateFolderOf([renamed], environment);
  await writeFile(join(own, "ledger.sqlite"), "new");
  const { setAside } = await adopt(renamed);
  expect(await readFile(join(String(setAside), "ledger.sqlite"), "utf8")).toBe("new");
  expect(await readFile(join(own, "ledger.sqlite"), "utf8")).toBe("notes");
  expect(await found(renamed)).toBeNull();
});

test("a copy, another folder with the name and a record inside a folder get nothing", async () => {
  const { root, state } = await used("notes");
  const copy = join(base, "copy");
  await cp(root, copy, { recursive: true, preserveTimestamps: true });
  await rm(root, { recursive: true });
  await mkdir(join(base, "other"));
  await cp(join(state, "workspace.json"), join(base, "other", "workspace.json"));
  for (const name of ["copy", "other"]) expect(await found(join(base, name))).toBeNull();
  await mkdir(root);
  await expect(adopt(copy)).rejects.toMatchObject({ code: "NotFound" });
});

test("a folder that is still at its path keeps its state, whatever claims it", async () => {
  const { root, state } = await used("notes");
  const claimed = await used("claimed");
  // As if its file system gave both the same numbers.
  const record = await readFile(join(claimed.state, "workspace.json"), "utf8");
  await writeFile(join(state, "workspace.json"), record.replace(claimed.root, root));
  expect(await found(claimed.root)).toBeNull();
});

test.each(["", "{", "[]", '{"path":"/gone"}', `"${"x".repeat(5_000)}"`])(
  "a damaged record is ignored: %s",
  async (text) => {
    const { root, state } = await used("notes");
    await writeFile(join(state, "workspace.json"), text);
    const renamed = join(base, "letters");
    await rename(root, renamed);
    expect(await found(renamed)).toBeNull();
  },
);

test("the record is written once, and for its owner alone", async () => {
  const { root, state } = await used("notes");
  const record = join(state, "workspace.json");
  const before = await stat(record);
  expect(before.mode & 0o777).toBe(0o600);
  await stateFolderOf([root], environment);
  expect((await stat(record)).ino).toBe(before.ino);
});
