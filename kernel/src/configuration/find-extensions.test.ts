import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkManifest } from "../documents/manifest.ts";
import { manifestPorts } from "../documents/testing/ports.ts";
import { ObservedFiles } from "./observed-files.ts";
import { ExtensionFinder, extensionIds, leadsToAnotherMachine, manifestOf } from "./find-extensions.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lares-find-"));
  await mkdir(join(folder, "one"));
  await writeFile(
    join(folder, "one", "extension.yaml"),
    "extension:\n  id: dev.one\n  name: One\n  version: 1.0.0\n",
  );
});
afterAll(() => rm(folder, { recursive: true }));

test("an id is found in a manifest with errors only if no valid one has it", async () => {
  const faulty = (place: string) => join(folder, place, "faulty");
  for (const [place, version] of [
    ["broken", "[]"],
    ["sound", "1.0.0"],
  ] as const) {
    await mkdir(faulty(place), { recursive: true });
    const text = `extension:\n  id: dev.faulty\n  name: Faulty\n  version: ${version}\n`;
    await writeFile(join(faulty(place), "extension.yaml"), text);
  }
  const finder = (...workspace: string[]) =>
    new ExtensionFinder(
      {
        workspace: workspace.map((place) => join(folder, place)),
        user: join(folder, "none"),
        bundled: join(folder, "none"),
      },
      ({ text, file }) => checkManifest(text, file, manifestPorts()),
    );
  const found = await finder("broken").byId("dev.faulty");
  expect(found).toMatchObject({ manifest: { file: join(faulty("broken"), "extension.yaml") } });
  expect(found?.checked.usable).toBe(false);
  expect((await finder("broken", "sound").byId("dev.faulty"))?.checked.value?.id).toBe("dev.faulty");
});

test.each([
  ["half typed, its id still there", "extension:\n  id: dev.typed\n  name: [\n"],
  ["half typed in its id", "extension:\n  id: dev.\n  nam"],
  ["half typed so that nothing can be read", "extension:\n  id: 'dev\n"],
])("an extension whose manifest is %s in an editor is still there", async (_name, typed) => {
  const place = join(folder, "typed");
  const file = join(place, "one", "extension.yaml");
  await mkdir(join(place, "one"), { recursive: true });
  await writeFile(file, "extension:\n  id: dev.typed\n  name: One\n  version: 1.0.0\n");
  const uri = pathToFileURL(file).href;
  const open = { text: (asked: string) => (asked === uri ? typed : null), uris: () => [uri] };
  const finder = new ExtensionFinder(
    { workspace: [place], user: join(folder, "none"), bundled: join(folder, "none") },
    ({ text, file: named }) => checkManifest(text, named, manifestPorts()),
    new ObservedFiles(open),
  );
  expect(await finder.byId("dev.typed")).toMatchObject({ manifest: { file } });
  expect(await finder.byId("dev.other")).toBeNull();
});

test("a path is looked for from its document's folder, and never on another machine", async () => {
  const finder = new ExtensionFinder(
    { workspace: [], user: join(folder, "none"), bundled: join(folder, "none") },
    ({ text, file }) => checkManifest(text, file, manifestPorts()),
  );
  const document = join(folder, "lares.yaml");
  expect((await finder.byPath("one", document))?.checked.value?.id).toBe("dev.one");
  expect(await finder.beside("./two", document)).toEqual(["./one"]);
  // Here the same folder, on Windows a share of a host.
  expect(await finder.byPath(`/${join(folder, "one")}`, document)).toBeNull();
  expect(await finder.beside(`/${join(folder, "two")}`, document)).toEqual([]);
});

test.each([
  ["//host/share", true],
  [String.raw`\\host\share`, true],
  [String.raw`/\host/share`, true],
  ["../host//share", false],
  ["/host/share", false],
])("%s", (path, expected) => {
  expect(leadsToAnotherMachine(path)).toBe(expected);
});

test.each([
  ["a block", "extension:\n  name: A\n  id: dev.written\n"],
  ["JSON", '{\n  "extension": {\n    "id": "dev.written"\n  }\n}\n'],
  ["braces", "extension: { name: A, id: dev.written }\n"],
  ["TOML", '[extension]\nid = "dev.written"\n'],
])("an id is read from a manifest that is written as %s", async (_how, text) => {
  const place = await mkdtemp(join(folder, "written-"));
  await mkdir(join(place, "one"));
  await writeFile(join(place, "one", text.startsWith("[") ? "extension.toml" : "extension.yaml"), text);
  expect(await extensionIds([place], new ObservedFiles())).toEqual(new Set(["dev.written"]));
  expect((await manifestOf("dev.written", [place], new ObservedFiles()))?.text).toBe(text);
  expect(await manifestOf("dev.write", [place], new ObservedFiles())).toBeNull();
});

test("of a workspace's own place 256 folders are read, of the person's own all of a thousand extensions", async () => {
  const place = join(folder, "many");
  const last = "dev.many.n0999";
  for (let at = 0; at < 1000; at++) {
    const id = `dev.many.n${String(at).padStart(4, "0")}`;
    await mkdir(join(place, id), { recursive: true });
    await writeFile(
      join(place, id, "extension.yaml"),
      `extension:\n  id: ${id}\n  name: N\n  version: 1.0.0\n`,
    );
  }
  const finder = (places: { workspace: string[]; user: string }) =>
    new ExtensionFinder({ ...places, bundled: join(folder, "none") }, ({ text, file }) =>
      checkManifest(text, file, manifestPorts()),
    );
  const own = finder({ workspace: [], user: place });
  expect((await own.byId(last))?.checked.value?.id).toBe(last);
  expect(await own.ids()).toHaveLength(1000);
  const strangers = finder({ workspace: [place], user: join(folder, "none") });
  expect(await strangers.byId(last)).toBeNull();
  expect(await strangers.ids()).toHaveLength(256);
});
