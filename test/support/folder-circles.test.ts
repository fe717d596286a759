import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const roots = ["kernel/src", "vscode-client/src", "extensions/sdk/src"].map((path) =>
  fileURLToPath(new URL(`../../${path}/`, import.meta.url)),
);

/** Returns the sources below a folder, without tests and what only tests import. */
function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "testing" ? [] : sourcesIn(path);
    return /\.tsx?$/.test(entry.name) && !/\.test\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

/**
 * Returns the two things beside each other that an import connects: the folders of one folder that lead to the two files,
 * or a folder's own files, written as the folder, and a folder in it. In the top folder a file counts by itself: it has
 * the entry, which knows everything, and what everybody knows.
 */
function arrowOf(root: string, from: string, to: string): readonly [from: string, to: string] {
  const [left, right] = [relative(root, from).split(/[\\/]/), relative(root, to).split(/[\\/]/)];
  const last = Math.min(left.length, right.length) - 1;
  let depth = 0;
  while (depth < last && left[depth] === right[depth]) depth++;
  const upTo = (parts: readonly string[]): string =>
    parts.slice(0, parts.length - 1 === depth && depth > 0 ? depth : depth + 1).join("/");
  return [upTo(left), upTo(right)];
}

/** Returns the pairs of folders whose files import each other, at any depth in them, types included. */
function circlesAmong(root: string, paths: readonly string[], read: (path: string) => string): string[] {
  const arrows = new Set<string>();
  for (const path of paths)
    for (const [, imported = ""] of read(path).matchAll(/(?:from|import\() ?"(\.[^"]+)"/g)) {
      const target = join(dirname(path), imported);
      if (relative(root, target).startsWith("..")) continue;
      const [from, to] = arrowOf(root, path, target);
      if (to !== from) arrows.add(`${from} > ${to}`);
    }
  return [...arrows].flatMap((arrow) => {
    const [from = "", to = ""] = arrow.split(" > ");
    return from < to && arrows.has(`${to} > ${from}`) ? [`${from} <-> ${to}`] : [];
  });
}

/** `a/b` and `a` are a pair too: a folder's own files would be above and below those in it at once. */
test("no two folders of the kernel, the editor's client and the SDK import each other", () => {
  const found = roots.flatMap((root) =>
    circlesAmong(root, sourcesIn(root), (path) => readFileSync(path, "utf8")),
  );
  expect(found).toEqual([]);
});

test("circles are found, at any depth", () => {
  const [root = ""] = roots;
  const texts: Readonly<Record<string, string>> = {
    [join(root, "a/one.ts")]: 'import type { Two } from "./b/two.ts";',
    [join(root, "a/b/two.ts")]: 'export const one = await import("../one.ts");',
    [join(root, "c/three.ts")]: 'export { one } from "../a/one.ts";',
    [join(root, "d/e/four.ts")]: 'import { five } from "../f/g/five.ts";',
    [join(root, "d/f/six.ts")]: 'import { seven } from "../e/h/seven.ts";',
    [join(root, "main.ts")]: 'import "./c/three.ts";',
    [join(root, "c/eight.ts")]: 'import "../types.ts";',
  };
  expect(circlesAmong(root, Object.keys(texts), (path) => texts[path]!)).toEqual([
    "a <-> a/b",
    "d/e <-> d/f",
  ]);
});
