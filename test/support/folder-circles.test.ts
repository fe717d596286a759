import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/**
 * Pairs of folders within a room that still know each other. The list can only shrink: a pair that is opened must leave it.
 * `a/b` and `a` are a pair too: a folder's own files then stand on those below it and under them at once.
 */
const known: readonly string[] = [
  "base <-> base/vocabulary",
  "cli <-> cli/commands",
  "cli/render/review <-> cli/review",
  "composition <-> composition/subsystems",
  "memory <-> memory/transfer",
  "protocol <-> protocol/framing",
  "protocol <-> protocol/guest/v1",
  "protocol <-> protocol/v1",
];

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
function circlesIn(room: string): string[] {
  const arrows = new Set<string>();
  for (const file of sourcesIn(room)) {
    const from = relative(root, dirname(file));
    for (const [, imported = ""] of readFileSync(file, "utf8").matchAll(/(?:from|import\() ?"(\.[^"]+)"/g)) {
      const to = relative(root, dirname(join(dirname(file), imported)));
      if (to !== from && !to.startsWith("..")) arrows.add(`${from} > ${to}`);
    }
  }
  return [...arrows].flatMap((arrow) => {
    const [from = "", to = ""] = arrow.split(" > ");
    return from < to && arrows.has(`${to} > ${from}`) ? [`${from} <-> ${to}`] : [];
  });
}

const circles = circlesIn(root);

test("no two folders know each other, but for those that are listed", () => {
  expect(circles.filter((pair) => !known.includes(pair))).toEqual([]);
});

test("a pair leaves the list once its folders are ordered", () => {
  expect(known.filter((pair) => !circles.includes(pair))).toEqual([]);
});

test("circles are found", () => {
  expect(circlesIn(join(root, "memory"))).toContain("memory <-> memory/transfer");
  expect(circlesIn(join(root, "documents"))).toEqual([]);
});
