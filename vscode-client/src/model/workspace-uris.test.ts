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
  ["two folders of one name are numbered", ["/w/a", "/v/a"], "a-2/x.md", "/v/a/x.md"],
  ["a folder itself", ["/w/a", "/w/b"], "b", "/w/b"],
  ["a folder that is none of them", ["/w/a", "/w/b"], "c/x.md", undefined],
  ["a path that leaves its folder", ["/w/a"], "../secret", undefined],
  ["no folder at all", [], "x.md", undefined],
])("%s", (_name, folders, path, expected) => {
  open(...folders);
  expect(uriOf(path)?.fsPath).toBe(expected);
});
