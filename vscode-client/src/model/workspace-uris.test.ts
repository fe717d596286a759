import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { seen, Uri, workspace } from "../testing/vscode.ts";
import { uriOf } from "./uris.ts";

function open(...paths: string[]): void {
  workspace.workspaceFolders = paths.map((path, index) => ({ uri: Uri.file(path), name: path, index }));
}

beforeEach(() => seen.forget());

it.each<[string, readonly string[], string, string | undefined]>([
  ["one folder: paths are its own", ["/w/a"], "notes/x.md", "/w/a/notes/x.md"],
  ["several folders: the first component names one", ["/w/a", "/w/b"], "b/notes/x.md", "/w/b/notes/x.md"],
  ["two folders of one name are numbered", ["/v/a", "/w/a"], "a-2/x.md", "/w/a/x.md"],
  ["the same numbers in another order", ["/w/a", "/v/a"], "a-2/x.md", "/w/a/x.md"],
  ["a folder itself", ["/w/a", "/w/b"], "b", "/w/b"],
  ["a folder that is none of them", ["/w/a", "/w/b"], "c/x.md", undefined],
  ["a path that leaves its folder", ["/w/a"], "../secret", undefined],
  ["no folder at all", [], "x.md", undefined],
])("%s", (_name, folders, path, expected) => {
  open(...folders);
  expect(uriOf(path)?.fsPath).toBe(expected);
});

it("a folder that was opened through a link has its real name, as in the kernel", () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "lares-uris-")));
  try {
    mkdirSync(join(base, "real"));
    symlinkSync(join(base, "real"), join(base, "link"));
    open(join(base, "link"), "/w/b");
    expect(uriOf("real/x.md")?.fsPath).toBe(join(base, "link/x.md"));
    expect(uriOf("link/x.md")).toBeUndefined();
  } finally {
    rmSync(base, { recursive: true });
  }
});
