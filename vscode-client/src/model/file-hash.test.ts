import { createHash } from "node:crypto";
import { beforeEach, expect, it, vi } from "vitest";
import { files, seen, Uri, workspace } from "../testing/vscode.ts";
import { FileHashes, maxKept, settledMs } from "./file-hash.ts";

const nowMs = Date.parse("2026-03-01T12:00:00Z");
const long = nowMs - settledMs;
const read = vi.spyOn(workspace.fs, "readFile");

beforeEach(() => {
  seen.forget();
  workspace.workspaceFolders = [{ uri: Uri.file("/w"), name: "w", index: 0 }];
  read.mockClear();
});

function lay(path: string, text: string, mtime: number): void {
  const uri = Uri.file(`/w/${path}`).toString();
  files.set(uri, Buffer.from(text));
  seen.modified.set(uri, mtime);
}

const hashOf = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const start = (): FileHashes => new FileHashes(() => nowMs);

it("reads a file once as long as its time and size stay the same", async () => {
  const hashes = start();
  lay("a.md", "one", long);
  expect([await hashes.of("a.md"), await hashes.of("a.md")]).toEqual([hashOf("one"), hashOf("one")]);
  expect(read).toHaveBeenCalledTimes(1);
});

it.each<[string, string, number]>([
  ["another time", "two", long - 1],
  ["another size", "three", long],
])("reads it again with %s", async (_case, text, mtime) => {
  const hashes = start();
  lay("a.md", "one", long);
  await hashes.of("a.md");
  lay("a.md", text, mtime);
  expect(await hashes.of("a.md")).toBe(hashOf(text));
});

it("a file that was just written is read each time: the next write may have the same time and size", async () => {
  const hashes = start();
  lay("a.md", "one", long + 1);
  await hashes.of("a.md");
  lay("a.md", "two", long + 1);
  expect(await hashes.of("a.md")).toBe(hashOf("two"));
});

it("a file that was replaced is not taken for the old one", async () => {
  const hashes = start();
  lay("a.md", "one", long);
  await hashes.of("a.md");
  files.clear();
  expect(await hashes.of("a.md")).toBeNull();
  lay("a.md", "two", long);
  expect(await hashes.of("a.md")).toBe(hashOf("two"));
});

it("keeps a limited number: the least recently used is read again", async () => {
  const hashes = start();
  for (let index = 0; index <= maxKept; index++) {
    lay(`f${index}`, "x", long);
    await hashes.of(`f${index}`);
    await hashes.of("f0");
  }
  read.mockClear();
  await hashes.of("f0");
  await hashes.of(`f${maxKept}`);
  expect(read).not.toHaveBeenCalled();
  await hashes.of("f1");
  expect(read).toHaveBeenCalledTimes(1);
});

it("a file outside the workspace has no known hash", async () => {
  expect(await start().of("../secret")).toBeUndefined();
});
