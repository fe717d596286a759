import { describe, expect, test } from "vitest";
import { workspaceRootsOf } from "./workspace-roots.ts";

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
      name: "a path that is not a folder",
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
