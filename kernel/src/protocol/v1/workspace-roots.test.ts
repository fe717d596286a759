import { describe, expect, test } from "vitest";
import { pathOfFileUri, workspaceRootsOf } from "./workspace-roots.ts";

const uris: readonly [uri: string, posix: string | null, windows: string | null][] = [
  ["file:///home/a", "/home/a", null],
  ["file:///home/a/", "/home/a", null],
  ["file:///", "/", null],
  ["file:/home/a", "/home/a", null],
  ["file://localhost/home/a", "/home/a", null],
  ["FILE:///home/%C3%A4%20b%23", "/home/ä b#", null],
  ["file:///c%3A/Users/a", "/c:/Users/a", "C:\\Users\\a"],
  ["file:///C:/Users/a/", "/C:/Users/a", "C:\\Users\\a"],
  ["file:///d:", "/d:", "D:\\"],
  ["file://server/share/a", null, "\\\\server\\share\\a"],
  ["file:///home/a?query#fragment", "/home/a", null],
  ["file:///home/%00", null, null],
  ["file:///home/a%2Fb", null, null],
  ["file:///home/%zz", null, null],
  ["vscode-vfs://github/a", null, null],
  ["/home/a", null, null],
];

describe("file: URIs", () => {
  for (const [uri, posix, windows] of uris)
    test(uri, () => {
      expect(pathOfFileUri(uri, "linux")).toBe(posix);
      expect(pathOfFileUri(uri, "win32")).toBe(windows);
    });
});

describe("the workspace of an initialize request", () => {
  const cases: readonly { name: string; params: unknown; roots: string[]; refused?: number }[] = [
    {
      name: "folders before rootUri, each once",
      params: {
        workspaceFolders: [{ uri: "file:///a" }, { uri: "file:///b" }, { uri: "file:///a/" }],
        rootUri: "file:///c",
      },
      roots: ["/a", "/b"],
    },
    { name: "rootUri", params: { workspaceFolders: null, rootUri: "file:///c" }, roots: ["/c"] },
    {
      name: "rootUri where the list of folders is empty",
      params: { workspaceFolders: [], rootUri: "file:///c" },
      roots: ["/c"],
    },
    { name: "rootPath", params: { rootUri: null, rootPath: "/d" }, roots: ["/d"] },
    { name: "nothing", params: { rootUri: null }, roots: [] },
    { name: "no params", params: undefined, roots: [] },
    {
      name: "a folder of another scheme is named and left out",
      params: { workspaceFolders: [{ uri: "vscode-vfs://x/y" }, { uri: "file:///a" }] },
      roots: ["/a"],
      refused: 1,
    },
    {
      name: "what is no folder at all",
      params: { workspaceFolders: [7, null, {}], rootUri: "file:///c" },
      roots: [],
      refused: 1,
    },
  ];
  for (const { name, params, roots, refused } of cases)
    test(name, () => {
      const found = workspaceRootsOf(params, "linux");
      expect(found.roots).toEqual(roots);
      expect(found.refused).toHaveLength(refused ?? 0);
    });
});
