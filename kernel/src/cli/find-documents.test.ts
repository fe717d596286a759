import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findDocuments } from "./find-documents.ts";

let root = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "lares-find-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function files(contents: Record<string, string>): Promise<void> {
  for (const [path, content] of Object.entries(contents)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}
const found = async (...paths: string[]) =>
  (await findDocuments(paths.map((path) => join(root, path)))).documents.map((path) => relative(root, path));

it("finds both documents in both formats, at any depth, hidden folders included, sorted", async () => {
  await files({
    "lares.yaml": "",
    "b/lares.toml": "",
    ".lares/extensions/x/extension.yaml": "",
    "a/extension.toml": "",
    "a/other.yaml": "",
  });
  expect(await found("")).toEqual([
    ".lares/extensions/x/extension.yaml",
    "a/extension.toml",
    "b/lares.toml",
    "lares.yaml",
  ]);
});

it("leaves out node_modules, .git and what Git ignores; a nested .gitignore may include again", async () => {
  await files({
    "node_modules/x/extension.yaml": "",
    ".git/lares.yaml": "",
    ".gitignore": "out/\n*.toml\n",
    "out/lares.yaml": "",
    "a/extension.toml": "",
    "b/.gitignore": "!extension.toml\n",
    "b/extension.toml": "",
  });
  expect(await found("")).toEqual(["b/extension.toml"]);
});

it("includes a document that is named itself, even if ignored, and each once", async () => {
  await files({ ".gitignore": "lares.yaml\n", "lares.yaml": "" });
  expect(await found("lares.yaml", "", "lares.yaml")).toEqual(["lares.yaml"]);
});

it("does not follow a link, not even in a circle", async () => {
  await files({ "a/lares.yaml": "" });
  await symlink(join(root, "a"), join(root, "a", "again"));
  expect(await found("")).toEqual(["a/lares.yaml"]);
});

it("names each unreadable .gitignore, and still finds the documents", async () => {
  await files({
    "a/.gitignore": `${"x".repeat(1000)}\n`.repeat(300),
    "a/lares.yaml": "",
    "b/rules": "",
    "b/extension.yaml": "",
  });
  await symlink(join(root, "b", "rules"), join(root, "b", ".gitignore"));
  expect(await found("")).toEqual(["a/lares.yaml", "b/extension.yaml"]);
  expect((await findDocuments([root])).unreadRules).toEqual([
    { file: join(root, "a", ".gitignore"), fault: "has 300300 bytes; at most 262144 are read" },
    { file: join(root, "b", ".gitignore"), fault: "is a link, which is not followed" },
  ]);
});

it("names a path that does not exist or is not a document", async () => {
  await files({ "notes.md": "" });
  await expect(found("missing")).rejects.toThrow(/missing" does not exist/);
  await expect(found("notes.md")).rejects.toThrow(/a file called lares.yaml/);
});
