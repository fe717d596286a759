import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, describe, test } from "vitest";
import { computeInForce } from "./in-force.ts";
import { program, manifest, workspace, documents } from "./testing/consent-workspace.ts";
import { decisions } from "./testing/snapshots.ts";

describe("a program contains none of the person's files that the question does not name", () => {
  const importing = (file: string): string => `import data from "./${file}";\n${program}console.log(data);\n`;
  const inRoot = (path: string, more: object = {}): Record<string, string> => ({
    "lares.yaml": JSON.stringify({ extensions: [{ path, ...more }] }),
    "extension.yaml": JSON.stringify({ extension: manifest }),
    "agent.ts": importing("private/key.json"),
    "private/key.json": "{}",
  });
  const refused = (name: string, files: Record<string, string>, reason: RegExp): void =>
    test(name, async () => {
      const now = await (await workspace(files)).load();
      expect(now.entries).toEqual([]);
      expect(now.faults).toEqual([expect.stringMatching(reason)]);
    });

  refused("an extension that is the workspace is refused", inRoot("."), /holds, the workspace/);
  refused(
    "an extension that is a granted folder is refused",
    { ...documents({}, { path: "./ext", grants: { locations: ["ext"] } }) },
    /holds, ext, a folder granted to an agent/,
  );
  refused(
    "an extension that holds a granted folder is refused, whoever is granted it",
    { ...documents({}, { grants: { locations: ["ext/photos"] } }), "ext/photos/a.txt": "a" },
    /holds, ext\/photos, a folder granted/,
  );
  test("an extension through a link to a folder that contains the workspace, or the state, is refused", async () => {
    for (const target of ["workspace", "user", "."]) {
      const folder = await workspace({});
      await mkdir(join(folder.root, ".lares", "extensions"), { recursive: true });
      await mkdir(join(folder.base, target), { recursive: true });
      await writeFile(join(folder.base, target, "extension.yaml"), JSON.stringify({ extension: manifest }));
      await folder.link(".lares/extensions/one", join(folder.base, target));
      const now = await folder.load();
      expect({ target, entries: now.entries }).toEqual({ target, entries: [] });
      expect(now.faults).toEqual([expect.stringMatching(/is, or holds, /)]);
    }
  });
  test("an extension in .lares/extensions works in a granted workspace", async () => {
    const folder = await workspace({
      ".lares/extensions/one/extension.yaml": JSON.stringify({ extension: manifest }),
      ".lares/extensions/one/agent.ts": program,
    });
    const { entries, faults } = await folder.load();
    expect(faults).toEqual([]);
    expect(entries[0]?.program.program?.carries).toEqual([]);
  });

  test("data within the program is named with its size, and a new file of it is asked", async () => {
    const folder = await workspace({
      ...documents(),
      "ext/agent.ts": importing("data.json"),
      "ext/data.json": '{"a":1}',
    });
    const first = await folder.load();
    expect(first.requests.extensions["dev.one"]?.carries).toEqual([{ path: "data.json", bytes: 7 }]);
    const inForce = computeInForce(first, await decisions(), new Map());
    expect(inForce.pendingAsks).toContain(
      "the program of dev.one contains these files, and can read them: data.json (7 bytes)",
    );
  });
  test("source from beside the folder of main is named, source of packages is not", async () => {
    const folder = await workspace({
      ...documents({ main: "src/agent.ts" }),
      "ext/src/agent.ts": `import "../private/x.ts";\nimport "./own.ts";\nimport "pack";\n${program}`,
      "ext/src/own.ts": "export {};\n",
      "ext/private/x.ts": "export {};\n",
      "ext/node_modules/pack/package.json": '{"main":"index.js"}',
      "ext/node_modules/pack/index.js": "export {};\n",
    });
    const { entries } = await folder.load();
    expect(entries[0]?.program.program?.carries?.map(({ path }) => path)).toEqual(["private/x.ts"]);
  });
  test("data of packages is named", async () => {
    const folder = await workspace({
      ...documents(),
      "ext/agent.ts": `import one from "./node_modules/pack/key.json";\nimport two from "pack/other.txt";\n${program}console.log(one, two);\n`,
      "ext/node_modules/pack/package.json": "{}",
      "ext/node_modules/pack/key.json": "{}",
      "ext/node_modules/pack/other.txt": "text",
    });
    const { entries } = await folder.load();
    expect(entries[0]?.program.program?.carries?.map(({ path }) => path).toSorted()).toEqual([
      "node_modules/pack/key.json",
      "node_modules/pack/other.txt",
    ]);
  });
  test("data that git leaves out is in no program; source that it leaves out is named", async () => {
    const folder = await workspace({
      ...documents(),
      ".git/HEAD": "",
      ".gitignore": "secret*\ndist/\n",
      "ext/agent.ts": importing("secret.json"),
      "ext/secret.json": "{}",
      "ext/dist/made.ts": "export default 1;\n",
    });
    expect((await folder.load()).entries[0]?.program).toMatchObject({
      program: null,
      fault: expect.stringMatching(/^The program imports secret\.json, which git leaves out/) as string,
    });
    await folder.write("ext/agent.ts", importing("dist/made.ts"));
    expect((await folder.load()).entries[0]?.program.program?.carries).toEqual([
      { path: "dist/made.ts", bytes: 18 },
    ]);
  });
  test("data beneath a .gitignore that cannot be read is in no program, whatever the folder's own rules say", async () => {
    const folder = await workspace({
      ...documents(),
      ".git/HEAD": "",
      ".gitignore": "x\n".repeat(200_000),
      "ext/.gitignore": "!data.json\n",
      "ext/agent.ts": importing("data.json"),
      "ext/data.json": "{}",
    });
    expect((await folder.load()).entries[0]?.program).toMatchObject({
      program: null,
      fault: expect.stringMatching(/git may leave it out: .*\.gitignore has 400000 bytes/) as string,
    });
  });
  test.each([".env.json", ".hidden/data.json", ".git/config.txt"])("%s is in no program", async (path) => {
    const folder = await workspace({
      ...documents(),
      "ext/agent.ts": importing(path),
      [`ext/${path}`]: "{}",
    });
    expect((await folder.load()).entries[0]?.program).toMatchObject({
      program: null,
      fault: expect.stringMatching(/is hidden; hidden files cannot be part of a program/) as string,
    });
  });
  test("a link in the folder does not make a hidden file another", async () => {
    const folder = await workspace({
      ...documents(),
      "ext/agent.ts": importing("data.json"),
      "ext/.env.json": "{}",
    });
    await folder.link("ext/data.json", ".env.json");
    expect((await folder.load()).entries[0]?.program.fault).toMatch(/"\.env\.json" is hidden/);
  });
});
