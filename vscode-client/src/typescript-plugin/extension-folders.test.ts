import { beforeEach, describe, expect, it } from "vitest";
import { ExtensionFolders } from "./extension-folders.ts";

const manifest = "extension:\n  id: local.photo\n";
let files: Map<string, string>;
let nowMs: number;
let looks: number;
let folders: ExtensionFolders;
beforeEach(() => {
  files = new Map([["/w/photo/extension.yaml", manifest]]);
  nowMs = 0;
  looks = 0;
  const host = {
    fileExists: (path: string) => {
      looks += 1;
      return files.has(path);
    },
    readFile: (path: string) => files.get(path),
    getFileSize: (path: string) => files.get(path)?.length ?? 0,
  };
  folders = new ExtensionFolders(host, () => nowMs);
});

describe("the extension of a file", () => {
  it("is the nearest folder above it with a manifest", () => {
    files.set("/w/photo/inner/extension.toml", '[extension]\nid = "local.inner"\n');
    expect(folders.of("/w/photo/agent.ts")).toBe("/w/photo");
    expect(folders.of("/w/photo/lib/deep/exif.ts")).toBe("/w/photo");
    expect(folders.of("/w/photo/inner/agent.ts")).toBe("/w/photo/inner");
    expect(folders.of("c:/w/agent.ts")).toBeUndefined();
    expect(folders.of("/w/agent.ts")).toBeUndefined();
    expect(folders.of("untitled:agent.ts")).toBeUndefined();
  });

  it("is undefined for files in its node_modules, except inside an extension there", () => {
    files.set("/w/node_modules/lares/extensions/notes/extension.yaml", manifest);
    expect(folders.of("/w/photo/node_modules/exif/index.ts")).toBeUndefined();
    expect(folders.of("/w/node_modules/lares/extensions/notes/agent.ts")).toBe(
      "/w/node_modules/lares/extensions/notes",
    );
  });

  it.each([
    ["of a flow mapping", "{ extension: { id: a.b } }", true],
    ["with its key in quotes", '"extension":\n  id: a.b\n', true],
    ["of dotted keys", 'extension.id = "a.b"\n', true],
    ["of an inline table", 'extension = { id = "a.b" }\n', true],
    ["below a comment", "# yaml-language-server: $schema=x\nextension:\n", true],
    ["of Firebase", "name: resize-images\nversion: 0.1.0\nspecVersion: v1beta\n", false],
    ["that says nothing", "", false],
    ["that is too long to be one", `${manifest}${"#".repeat(300_000)}`, false],
  ])("is by a manifest %s", (_, text, isOurs) => {
    files.set("/w/photo/extension.yaml", text);
    expect(folders.of("/w/photo/agent.ts") !== undefined).toBe(isOurs);
  });

  it("is looked up on the disk periodically, however often it is requested, so a new manifest is noticed", () => {
    folders.of("/w/other/agent.ts");
    const once = looks;
    files.set("/w/other/extension.yaml", manifest);
    for (let time = 0; time < 1_000; time += 1) expect(folders.of("/w/other/agent.ts")).toBeUndefined();
    expect(looks).toBe(once);
    nowMs = 5_000;
    expect(folders.of("/w/other/agent.ts")).toBe("/w/other");
  });
});
