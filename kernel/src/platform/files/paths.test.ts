import { expect, test } from "vitest";
import { isWithin, pathInside } from "./paths.ts";

const cases: readonly [folder: string, path: string, inside: string | null][] = [
  ["/w", "/w", ""],
  ["/w", "/w/a/b", "a/b"],
  ["/w", "/w2/a", null],
  ["/w/x", "/w", null],
  ["/w/x", "/w/y", null],
  ["/w", "/w/..tools/agent.ts", "..tools/agent.ts"],
  ["/", "/a", "a"],
];

test.each(cases)("in %s, %s is %j", (folder, path, inside) => {
  expect(pathInside(folder, path)).toBe(inside);
  expect(isWithin(folder, path)).toBe(inside !== null);
});

test.skipIf(process.platform === "win32")("a name that looks like a drive is a name", () => {
  expect(pathInside("/w", "/w/c:x")).toBe("c:x");
});
