import { describe, expect, test } from "vitest";
import { pathOfFileUri } from "./file-uri.ts";

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
