import { mkdir, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeEach, describe, expect, it } from "vitest";
import { WorkspaceFiles } from "../../platform/files/workspace-files.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import type { FileService } from "../../services/files.ts";
import { UnsavedDocuments } from "../../services/unsaved-documents.ts";
import { createFileService } from "./file-service.ts";
import { namedRoots, pathMapper, throughLinks } from "../../configuration/workspace-paths.ts";

let base: string;
let files: FileService;
beforeEach(async () => {
  base = await realpath(await temporaryFolder());
  await mkdir(join(base, "workspace/notes"), { recursive: true });
  await writeFile(join(base, "workspace/notes/a.md"), "a\n");
  const paths = throughLinks(pathMapper(namedRoots([join(base, "workspace")])));
  files = createFileService(new WorkspaceFiles([]), paths);
});

/** Which of the paths is unsaved, where one client has these documents open and has saved none of them. */
function unsavedAmong(uris: readonly string[], paths: readonly string[]): Promise<string | null> {
  const documents = new UnsavedDocuments(files);
  documents.add({ compared: async () => undefined, unsaved: () => uris });
  return documents.among(paths);
}

const uri = (path: string): string => pathToFileURL(join(base, path)).href;

it("of files that many ask for at once, one is read at a time, and each as seldom as that is new enough", async () => {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const slow = createFileService(
    {
      readFile: (path: string) => {
        begun.push(path);
        return new Promise((resolve) => ends.push(() => resolve(new Uint8Array())));
      },
    } as unknown as WorkspaceFiles,
    async () => [],
  );
  const asked = Array.from({ length: 100 }, (_, at) => slow.hashOf(at % 2 === 0 ? "a" : "b"));
  await expect.poll(() => begun).toEqual(["a"]);
  asked.push(slow.hashOf("a"), slow.hashOf("a"));
  for (const wanted of [
    ["a", "b"],
    ["a", "b", "a"],
  ]) {
    ends.shift()?.();
    await expect.poll(() => begun).toEqual(wanted);
  }
  ends.shift()?.();
  expect(new Set(await Promise.all(asked)).size).toBe(1);
  expect(begun).toHaveLength(3);
});

describe("a file under another name", () => {
  it.each<[string, () => Promise<void>, string, readonly string[]]>([
    ["its own", async () => undefined, "workspace/notes/a.md", ["notes/a.md"]],
    [
      "a link from outside",
      () => symlink(join(base, "workspace/notes/a.md"), join(base, "link.md")),
      "link.md",
      ["notes/a.md"],
    ],
    [
      "a link to a folder above it",
      () => symlink(join(base, "workspace"), join(base, "elsewhere")),
      "elsewhere/notes/a.md",
      ["notes/a.md"],
    ],
    [
      "a link within the workspace: both, the real one first",
      () => symlink("notes/a.md", join(base, "workspace/b.md")),
      "workspace/b.md",
      ["notes/a.md", "b.md"],
    ],
    [
      "a link to a link",
      async () => {
        await symlink(join(base, "workspace/notes"), join(base, "one"));
        await symlink(join(base, "one/a.md"), join(base, "two.md"));
      },
      "two.md",
      ["notes/a.md"],
    ],
    [
      "what is not there yet, in a folder by another name",
      () => symlink(join(base, "workspace/notes"), join(base, "one")),
      "one/deep/new.md",
      ["notes/deep/new.md"],
    ],
    [
      "a link that leads out of the workspace: what lies outside is none of its files",
      async () => {
        await writeFile(join(base, "outside.md"), "");
        await symlink(join(base, "outside.md"), join(base, "workspace/out.md"));
      },
      "workspace/out.md",
      ["out.md"],
    ],
    [
      "links in a circle",
      async () => {
        await symlink(join(base, "workspace/y"), join(base, "workspace/x"));
        await symlink(join(base, "workspace/x"), join(base, "workspace/y"));
      },
      "workspace/x",
      ["x"],
    ],
  ])("%s", async (_name, prepare, path, expected) => {
    await prepare();
    expect(await files.pathsOf(uri(path))).toEqual(expected);
  });

  it("is found again once the link has another target", async () => {
    await symlink(join(base, "workspace/notes/a.md"), join(base, "link.md"));
    expect(await unsavedAmong([uri("link.md")], ["b.md", "notes/a.md"])).toBe("notes/a.md");
    await rename(join(base, "workspace/notes/a.md"), join(base, "workspace/b.md"));
    await rm(join(base, "link.md"));
    await symlink(join(base, "workspace/b.md"), join(base, "link.md"));
    expect(await unsavedAmong([uri("link.md")], ["b.md", "notes/a.md"])).toBe("b.md");
  });
});

it("what no URI of a file names is none", async () => {
  expect(await unsavedAmong(["untitled:a.md", "file://elsewhere/a.md"], ["a.md"])).toBeNull();
});
