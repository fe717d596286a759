import { expect, it } from "vitest";
import { maxPaths, pathsIn } from "./paths.tsx";

it("files are offered where data names them as such", () => {
  expect(pathsIn({ path: "notes/beach.md", words: 12, title: "Beach" })).toEqual(["notes/beach.md"]);
  expect(pathsIn({ from: "a.txt", to: "b/a.txt", paths: ["c.txt", "a.txt"] })).toEqual([
    "a.txt",
    "b/a.txt",
    "c.txt",
  ]);
  expect(pathsIn({ paths: Array.from({ length: 99 }, (_, index) => `${index}.md`) })).toHaveLength(maxPaths);
});

it.each([
  [{ path: "/etc/passwd.txt" }],
  [{ path: "../outside.md" }],
  [{ path: "a/../../outside.md" }],
  [{ path: "https://example.com/a.html" }],
  [{ path: "command:evil.md" }],
  [{ path: "C:\\a.txt" }],
  [{ path: "a folder" }],
  [{ path: 7 }],
  [{ text: "notes/beach.md" }],
  ["notes/beach.md"],
  [null],
])("%j offers none", (value) => expect(pathsIn(value)).toEqual([]));
