import { appendFile, cp, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import type { ProgramFolder } from "../../platform/files/program-files.ts";
import { extensionOf, sdkFolder } from "../guest/testing/run-guest.ts";
import { Bundler, type BundleResult } from "./bundle.ts";
import type { BundledProgram } from "./bundled-program.ts";
import { BuildInputs } from "./build-inputs.ts";

const files = {
  "agent.ts": `import { defineAgent } from "@lares/sdk";
    import a from "./a"; import { thing } from "thing"; import data from "./data.json";
    console.log(a, thing, data); export default defineAgent({});`,
  "a.js": "export default 'from a.js';",
  "data.json": `{"key": "from json"}`,
  "node_modules/thing/package.json": `{"main": "lib.js"}`,
  "node_modules/thing/lib.js": "export const thing = 'from a package';",
};

/** Each entry changes the folder once, and gives the text that only the new program prints. */
const changes: readonly (readonly [string, (folder: string) => Promise<unknown>, string])[] = [
  [
    "another content of the same length",
    (folder) => writeFile(join(folder, "a.js"), "export default 'FROM a.js';"),
    "FROM a.js",
  ],
  [
    "a file that comes before the one that was found",
    (folder) => writeFile(join(folder, "a.ts"), "export default 'from a.ts';"),
    "from a.ts",
  ],
  [
    "a link in a file's place",
    async (folder) => {
      await rename(join(folder, "a.js"), join(folder, "b.js"));
      await writeFile(join(folder, "c.js"), "export default 'by a link';");
      await symlink("c.js", join(folder, "a.js"));
    },
    "by a link",
  ],
  [
    "another entry of a package",
    async (folder) => {
      await writeFile(join(folder, "node_modules/thing/other.js"), "export const thing = 'another entry';");
      await writeFile(join(folder, "node_modules/thing/package.json"), `{"main": "other.js"}`);
    },
    "another entry",
  ],
];

function programOf(result: BundleResult): BundledProgram {
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result.program;
}

const textOf = ({ bytes }: BundledProgram): string => new TextDecoder().decode(bytes);

describe("a program that was bundled before", () => {
  it("is reused as long as none of its inputs changed", async () => {
    await using extension = await extensionOf(files);
    const bundler = new Bundler(sdkFolder);
    const first = await bundler.bundle(extension.folder, "agent.ts");
    await writeFile(join(extension.folder, "unused.ts"), "export default 'unused';");
    await mkdir(join(extension.folder, "node_modules", "another"));
    expect(await bundler.bundle(extension.folder, "agent.ts")).toBe(first);
    expect(programOf(first)).toMatchObject({ kind: "javascript" });
  });

  it.each(changes)("is bundled again after %s", async (_what, change, text) => {
    await using extension = await extensionOf(files);
    const bundler = new Bundler(sdkFolder);
    const first = programOf(await bundler.bundle(extension.folder, "agent.ts"));
    expect(textOf(first)).not.toContain(text);
    await change(extension.folder);
    const second = programOf(await bundler.bundle(extension.folder, "agent.ts"));
    expect(textOf(second)).toContain(text);
    expect(second.digest).toBe(
      programOf(await new Bundler(sdkFolder).bundle(extension.folder, "agent.ts")).digest,
    );
  });

  it("reports its error after a file is removed, and works again when the file returns", async () => {
    await using extension = await extensionOf(files);
    const bundler = new Bundler(sdkFolder);
    const first = programOf(await bundler.bundle(extension.folder, "agent.ts"));
    await rm(join(extension.folder, "a.js"));
    expect(await bundler.bundle(extension.folder, "agent.ts")).toMatchObject({
      ok: false,
      errors: [{ file: "agent.ts", line: 2 }],
    });
    await writeFile(join(extension.folder, "a.js"), files["a.js"]);
    expect(programOf(await bundler.bundle(extension.folder, "agent.ts")).digest).toBe(first.digest);
  });

  it("is bundled again after the SDK has changed", async () => {
    await using extension = await extensionOf(files);
    const sdk = await temporaryFolder();
    for (const part of ["package.json", "src"])
      await cp(join(sdkFolder, part), join(sdk, part), { recursive: true });
    const bundler = new Bundler(sdk);
    await bundler.bundle(extension.folder, "agent.ts");
    await appendFile(join(sdk, "src", "index.ts"), "\nconsole.log('another SDK');\n");
    expect(textOf(programOf(await bundler.bundle(extension.folder, "agent.ts")))).toContain("another SDK");
  });

  it("is not confused with another program of the same folder", async () => {
    await using extension = await extensionOf({ ...files, "other.ts": "export default 'the other';" });
    const bundler = new Bundler(sdkFolder);
    await bundler.bundle(extension.folder, "agent.ts");
    expect(textOf(programOf(await bundler.bundle(extension.folder, "other.ts")))).toContain("the other");
  });
});

it("evicts the least recently used programs and bundles them again on request", async () => {
  const remembered = 64;
  const names = Array.from({ length: remembered + 1 }, (_, at) => `program-${at}.js`);
  await using extension = await extensionOf(
    Object.fromEntries(names.map((name) => [name, `export const it = "${name}";`])),
  );
  const bundler = new Bundler(sdkFolder, { remembered });
  const first: BundleResult[] = [];
  for (const name of names) first.push(await bundler.bundle(extension.folder, name));
  const again = async (at: number): Promise<boolean> =>
    (await bundler.bundle(extension.folder, names[at] ?? "")) === first[at];
  expect([await again(1), await again(remembered)]).toEqual([true, true]);
  expect(await again(0)).toBe(false);
  expect(await again(2)).toBe(false);
});

describe("build inputs", () => {
  /** Returns a folder that gives these answers in order. */
  const folderOf = (...answers: (string | Error)[]): ProgramFolder => ({
    root: "/",
    locate: async () => "missing",
    read: async () => {
      const answer = answers.shift() ?? "";
      if (answer instanceof Error) throw answer;
      return new TextEncoder().encode(answer);
    },
    [Symbol.dispose]: () => undefined,
  });

  it("hold if every answer is the same, and not if one differs or fails", async () => {
    const heard = new BuildInputs(folderOf("one", "one"));
    await heard.read("a", 10);
    await heard.read("a", 10);
    expect(await heard.holdsFor(folderOf("one"))).toBe(true);
    expect(await heard.holdsFor(folderOf("two"))).toBe(false);
    expect(await heard.holdsFor(folderOf(new Error("gone")))).toBe(false);
    expect(await heard.holdsFor({ ...folderOf("one"), root: "/elsewhere" })).toBe(false);
  });

  it.each([
    ["a file was read twice and was another the second time", ["one", "two"]],
    ["something could not be read", ["one", new Error("gone")]],
  ] as const)("never hold if %s", async (_why, answers) => {
    const heard = new BuildInputs(folderOf(...answers));
    await heard.read("a", 10);
    await heard.read("a", 10).catch(() => undefined);
    for (const now of ["one", "two"]) expect(await heard.holdsFor(folderOf(now))).toBe(false);
  });
});
