import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../kernel/src/", import.meta.url));

/** Returns the sources below a folder, without tests and what only tests import. */
function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "testing" ? [] : sourcesIn(path);
    return entry.name.endsWith(".ts") && !entry.name.endsWith(".test.ts") ? [path] : [];
  });
}

/** Returns the pairs of folders whose files import each other, types included. */
function circlesAmong(paths: readonly string[], read: (path: string) => string): string[] {
  const arrows = new Set<string>();
  for (const path of paths) {
    const from = relative(root, dirname(path));
    for (const [, imported = ""] of read(path).matchAll(/(?:from|import\() ?"(\.[^"]+)"/g)) {
      const to = relative(root, dirname(join(dirname(path), imported)));
      if (to !== from && !to.startsWith("..")) arrows.add(`${from} > ${to}`);
    }
  }
  return [...arrows].flatMap((arrow) => {
    const [from = "", to = ""] = arrow.split(" > ");
    return from < to && arrows.has(`${to} > ${from}`) ? [`${from} <-> ${to}`] : [];
  });
}

/** `a/b` and `a` are a pair too: a folder's own files would be above and below those in it at once. */
test("no two folders of the kernel import each other", () => {
  expect(circlesAmong(sourcesIn(root), (path) => readFileSync(path, "utf8"))).toEqual([]);
});

test("circles are found", () => {
  const texts: Readonly<Record<string, string>> = {
    [join(root, "a/one.ts")]: 'import type { Two } from "./b/two.ts";',
    [join(root, "a/b/two.ts")]: 'export const one = await import("../one.ts");',
    [join(root, "c/three.ts")]: 'export { one } from "../a/one.ts";',
  };
  expect(circlesAmong(Object.keys(texts), (path) => texts[path]!)).toEqual(["a <-> a/b"]);
});
