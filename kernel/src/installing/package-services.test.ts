import { cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { neverAborted } from "../base/abort.ts";
import { writePackage } from "../packages/package-file.ts";
import { about, ours, text, theirs } from "../packages/testing/archives.ts";
import { acquireLock } from "../platform/processes/lock.ts";
import { bed } from "./testing/bed.ts";

const notes = fileURLToPath(new URL("../../../extensions/notes", import.meta.url));
const steward = fileURLToPath(new URL("../../../extensions/steward", import.meta.url));

const signal = neverAborted;
const may = { replacesPublisher: false, allowsOlder: false, signal };
const manifest = (version: string, more = ""): Uint8Array =>
  text(`extension:\n  id: ${about.id}\n  name: Photos\n  version: ${version}\n${more}`);

/** Writes a package and returns its path. */
async function packageFile(
  base: string,
  version: string,
  { key = ours, more = "", says = version }: { key?: typeof ours; more?: string; says?: string } = {},
): Promise<string> {
  const files = new Map([
    ["extension.yaml", manifest(says, more)],
    ["agent.js", text("export default {};\n")],
  ]);
  const path = join(base, `${version}-${key === ours ? "ours" : "theirs"}.lares`);
  await writeFile(path, writePackage({ id: about.id, version }, files, key));
  return path;
}

test("an extension is packed with its bundled program, and is the same wherever its folder lies", async () => {
  const { packages, base } = await bed();
  await packages.keys.create("default");
  const copy = join(base, "copy");
  await cp(notes, copy, { recursive: true });
  const [one, other] = [await packages.pack(notes), await packages.pack(copy)];
  expect(Buffer.from(one.bytes).equals(other.bytes)).toBe(true);
  expect(one.name).toBe("dev.lares.notes-0.1.0.lares");
  expect(one.files.map(({ path }) => path)).toEqual(["README.md", "agent.js", "extension.yaml"]);
  const path = join(base, one.name);
  await writeFile(path, one.bytes);
  const { offer } = await packages.open(path, { signal });
  expect(offer).toMatchObject({ id: "dev.lares.notes", pinned: null, installed: null, more: [], hosts: [] });
  expect(offer.requests.join("\n")).toContain("*.md");
});

test("a mind is packed with the texts that its manifest names", async () => {
  const { packages } = await bed();
  await packages.keys.create("default");
  const { files } = await packages.pack(steward);
  expect(files.map(({ path }) => path)).toEqual(["IDENTITY.md", "README.md", "SOUL.md", "extension.yaml"]);
});

test("every file that a manifest names is packed, data is part of the program, and no other file comes along", async () => {
  const { packages, base } = await bed();
  await packages.keys.create("default");
  const folder = join(base, "whole");
  const files = {
    "extension.yaml": `extension:
  id: dev.example.whole
  name: Whole
  version: 1.0.0
  permissions: { use_models: [{ category: chat }] }
  mind:
    identity: [SOUL.md]
    prompts: { channel: prompts/channel.md }
    skills: [skills/*]
    workers: { research: { description: Reads, prompt: prompts/research.md } }
  hooks: [{ schedule: 0 8 * * *, prompt: prompts/morning.md, target: notify }]
  commands: [{ name: who, title: Who is it, prompt: prompts/who.md }]
  tools: [{ name: word, description: A word, handler: word, parameters: { type: object } }]
`,
    "agent.ts":
      'import words from "./data/words.json" with { type: "json" };\nimport poem from "./data/poem.txt";\nexport default { tools: { word: () => words[0] + poem } };\n',
    "data/words.json": '["word of the data"]',
    "data/poem.txt": "line of the poem",
    "data/private.txt": "not imported",
    "LICENSE.txt": "MIT",
    "SOUL.md": "Be kind.",
    "prompts/channel.md": "Talk.",
    "prompts/research.md": "Read.",
    "prompts/morning.md": "What is new?",
    "prompts/who.md": "Who is it?",
    "prompts/unused.md": "Nobody names this.",
    "skills/sort/SKILL.md": "---\nname: sort\ndescription: Sorts\n---\nSort.\n",
  };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  const { bytes, files: packed } = await packages.pack(folder);
  expect(packed.map(({ path }) => path)).toEqual([
    "LICENSE.txt",
    "SOUL.md",
    "agent.js",
    "extension.yaml",
    "prompts/channel.md",
    "prompts/morning.md",
    "prompts/research.md",
    "prompts/who.md",
    "skills/sort/SKILL.md",
  ]);
  const whole = Buffer.from(bytes).toString("latin1");
  expect(whole).toContain("word of the data");
  expect(whole).toContain("line of the poem");
});

test("an extension that could not be installed is not packed", async () => {
  const { packages, base } = await bed();
  await packages.keys.create("default");
  const folder = join(base, "broken");
  await expect(packages.pack(base)).rejects.toThrow("no extension.yaml");
  await mkdir(folder);
  await writeFile(join(folder, "extension.yaml"), manifest("soon"));
  await writeFile(join(folder, "agent.ts"), "export default {};");
  await expect(packages.pack(folder)).rejects.toThrow(/version/);
  await writeFile(join(folder, "extension.yaml"), manifest("1.0.0"));
  await writeFile(join(folder, "agent.ts"), 'import "./missing.ts";');
  await expect(packages.pack(folder)).rejects.toThrow("missing.ts");
  await writeFile(join(folder, "agent.ts"), 'import key from "../key.json"; export default { key };');
  await writeFile(join(base, "key.json"), "{}");
  await expect(packages.pack(folder)).rejects.toThrow("not packed");
});

test("a package installs into the person's extensions, pins its publisher, and is listed as it is", async () => {
  const { packages, base, config, workspace } = await bed();
  const opened = await packages.open(await packageFile(base, "1.0.0"), { signal });
  const folder = await opened.install(may);
  expect(folder).toBe(join(config, "extensions", about.id));
  expect(await packages.folderInUse(workspace, about.id)).toBe(folder);
  expect(await packages.list(workspace)).toMatchObject([
    { id: about.id, version: "1.0.0", scope: "user", fault: null, changed: [], missing: [], added: [] },
  ]);
  await writeFile(join(folder, "agent.js"), "evil");
  expect(await packages.list(workspace)).toMatchObject([{ changed: ["agent.js"] }]);
  const [listed] = await packages.list(workspace);
  await packages.remove(listed!, workspace);
  expect(await packages.list(workspace)).toEqual([]);
});

test("a list restores what an update moved away before it died, unless another command is at work", async () => {
  const { packages, base, config, workspace } = await bed();
  const folder = await (await packages.open(await packageFile(base, "1.0.0"), { signal })).install(may);
  const staging = join(config, "extensions", ".installing-dead");
  await mkdir(staging);
  await writeFile(join(staging, "id"), about.id);
  await rename(folder, join(staging, "old"));
  const lock = await acquireLock(join(base, "home", "packages.lock"));
  if ("heldBy" in lock) throw new Error("Nobody else installs here.");
  expect(await packages.list(workspace)).toEqual([]);
  await lock.release();
  expect(await packages.list(workspace)).toMatchObject([{ id: about.id, folder, fault: null, changed: [] }]);
});

test("another publisher is refused, also after the extension was removed, unless it is accepted", async () => {
  const { packages, base, workspace } = await bed();
  await (await packages.open(await packageFile(base, "1.0.0"), { signal })).install(may);
  const [listed] = await packages.list(workspace);
  await packages.remove(listed!, workspace);
  const other = await packages.open(await packageFile(base, "1.1.0", { key: theirs }), { signal });
  expect(other.offer.pinned?.publisher).toBe(Buffer.from(ours.publicKey).toString("base64"));
  const refusal = other.install(may);
  await expect(refusal).rejects.toThrow(other.offer.fingerprint);
  await expect(refusal).rejects.toThrow(other.offer.pinned!.fingerprint);
  expect(await packages.list(workspace)).toEqual([]);
  await other.install({ ...may, replacesPublisher: true });
  const back = await packages.open(await packageFile(base, "1.2.0"), { signal });
  await expect(back.install(may)).rejects.toThrow("--accept-new-publisher");
});

test("a workspace that names another extension of the same id by its path is told from the installed one", async () => {
  const { packages, base, workspace } = await bed();
  const evil = join(workspace, "evil");
  await mkdir(evil);
  await writeFile(join(evil, "extension.yaml"), manifest("1.0.0"));
  await writeFile(join(evil, "agent.js"), "export default {};");
  // As the command writes it: the entry of the stranger stands first, and the first one counts.
  await writeFile(
    join(workspace, "lares.yaml"),
    `version: 1\nextensions:\n  - path: ./evil\n  - id: ${about.id}\n`,
  );
  const installed = await (await packages.open(await packageFile(base, "1.0.0"), { signal })).install(may);
  expect(await packages.folderInUse(workspace, about.id)).toBe(evil);
  await writeFile(join(workspace, "lares.yaml"), `version: 1\nextensions:\n  - id: ${about.id}\n`);
  expect(await packages.folderInUse(workspace, about.id)).toBe(installed);
});

test("another publisher is refused, too, after the person's state was damaged and replaced by an empty one", async () => {
  const { packages, base, config } = await bed();
  await (await packages.open(await packageFile(base, "1.0.0"), { signal })).install(may);
  await rm(join(base, "home"), { recursive: true });
  const after = await bed({}, base);
  const other = await after.packages.open(await packageFile(base, "1.1.0", { key: theirs }), { signal });
  expect(other.offer.pinned?.publisher).toBe(Buffer.from(ours.publicKey).toString("base64"));
  await expect(other.install(may)).rejects.toThrow("--accept-new-publisher");
  expect(await readFile(join(config, "extensions", about.id, "extension.yaml"), "utf8")).toContain("1.0.0");
});

test("a workspace's folder that says it is an installed extension is neither listed as it nor removed instead", async () => {
  const { packages, base, workspace } = await bed();
  const folder = await (await packages.open(await packageFile(base, "1.0.0"), { signal })).install(may);
  await cp(folder, join(workspace, ".lares", "extensions", "other"), { recursive: true });
  expect(await packages.list(workspace)).toMatchObject([
    { id: about.id, scope: "user", fault: null },
    { id: "", scope: "workspace", fault: expect.stringContaining("was not installed here") },
  ]);
  await expect(packages.remove({ id: about.id, scope: "workspace" }, workspace)).rejects.toThrow(about.id);
});

test("an older version is refused unless it is asked for, pre-releases and numbers included", async () => {
  const { packages, base, workspace } = await bed();
  await (await packages.open(await packageFile(base, "1.10.0"), { signal })).install(may);
  for (const version of ["1.9.0", "1.10.0-beta.1"]) {
    const older = await packages.open(await packageFile(base, version), { signal });
    expect(older.offer).toMatchObject({ installed: "1.10.0", isOlder: true });
    await expect(older.install(may)).rejects.toThrow("--downgrade");
  }
  const again = await packages.open(await packageFile(base, "1.9.0"), { signal });
  await again.install({ ...may, allowsOlder: true });
  expect(await packages.list(workspace)).toMatchObject([{ version: "1.9.0" }]);
});

test("a package whose manifest says something else is refused", async () => {
  const { packages, base } = await bed();
  await expect(
    packages.open(await packageFile(base, "1.0.0", { says: "2.0.0" }), { signal }),
  ).rejects.toThrow('com.example.photos 1.0.0, and its manifest that it is "com.example.photos" "2.0.0"');
  const other = join(base, "other.lares");
  await writeFile(
    other,
    writePackage(
      { id: "com.example.other", version: "1.0.0" },
      new Map([["extension.yaml", manifest("1.0.0")]]),
      ours,
    ),
  );
  await expect(packages.open(other, { signal })).rejects.toThrow("com.example.other 1.0.0");
  await writeFile(other, writePackage(about, new Map([["agent.js", text("")]]), ours));
  await expect(packages.open(other, { signal })).rejects.toThrow("no extension.yaml");
  const twice = new Map([
    ["extension.yaml", manifest("1.2.0")],
    ["extension.toml", text("")],
  ]);
  await writeFile(other, writePackage(about, twice, ours));
  await expect(packages.open(other, { signal })).rejects.toThrow("several manifests");
  // On a system that folds case, the kernel would read the other one.
  const folded = new Map([
    ["Extension.YML", manifest("1.2.0", "  permissions: { write_tags: true }\n")],
    ["extension.toml", text(`[extension]\nid = "${about.id}"\nname = "Photos"\nversion = "1.2.0"\n`)],
  ]);
  await writeFile(other, writePackage(about, folded, ours));
  await expect(packages.open(other, { signal })).rejects.toThrow("several manifests");
  await writeFile(other, writePackage(about, new Map([["extension.yaml", text("extension: {")]]), ours));
  await expect(packages.open(other, { signal })).rejects.toThrow("error in line 1");
});

test("what an update requests beyond the installed version is said", async () => {
  const { packages, base } = await bed();
  const installed = await (await packages.open(await packageFile(base, "1.0.0"), { signal })).install(may);
  const same = await packages.open(await packageFile(base, "1.0.1"), { signal });
  expect(same.offer.more).toEqual([]);
  const more = await packages.open(
    await packageFile(base, "1.1.0", {
      more: "  permissions: { read_entries: true }\n  resources: { allowed_hosts: [a.example] }\n",
    }),
    { signal },
  );
  await writeFile(join(installed, "extension.yaml"), "extension: {");
  const unknown = await packages.open(await packageFile(base, "1.0.2"), { signal });
  expect(unknown.offer.more).toEqual([expect.stringContaining("cannot be read")]);
  expect(more.offer.more.join("\n")).toMatch(/see and read files[^]*new host: a\.example/);
});

test("a folder is installed from: with sources, with one package, or unpacked", async () => {
  const { packages, base } = await bed();
  expect((await packages.open(notes, { signal })).offer.id).toBe("dev.lares.notes");
  expect(await packages.keys.list()).toMatchObject([{ name: "default" }]);
  const folder = join(base, "out");
  await mkdir(folder);
  await expect(packages.open(folder, { signal })).rejects.toThrow("no package and no extension");
  await cp(await packageFile(base, "1.0.0"), join(folder, "one.lares"));
  const opened = await packages.open(folder, { signal });
  const installed = await opened.install(may);
  expect((await packages.open(installed, { signal })).offer.sha256).toBe(opened.offer.sha256);
  await writeFile(join(installed, "agent.js"), "changed");
  await expect(packages.open(installed, { signal })).rejects.toThrow("not the file that was signed");
  await cp(await packageFile(base, "1.1.0"), join(folder, "two.lares"));
  await expect(packages.open(folder, { signal })).rejects.toThrow("holds 2 packages");
  await expect(packages.open(join(base, "nothing"), { signal })).rejects.toThrow("--from <index>");
});

test("into a workspace, a package goes beneath .lares/extensions", async () => {
  const { packages, base, workspace } = await bed();
  const opened = await packages.open(await packageFile(base, "1.0.0"), { signal, workspace });
  const folder = await opened.install(may);
  expect(folder).toBe(join(workspace, ".lares", "extensions", about.id));
  expect(await readFile(join(folder, "agent.js"), "utf8")).toContain("export default");
  expect(await packages.list(workspace)).toMatchObject([{ scope: "workspace", source: expect.any(String) }]);
});
