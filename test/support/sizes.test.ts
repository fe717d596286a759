import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const maxReadmeLines = 40;
const maxSourceLines = 400;
const maxTestLines = 600;
/** Long by their nature: a reference for authors, and tables that a test checks line by line. */
const longReadmes = [
  "extensions/sdk",
  "extensions/sdk/hnsw",
  "test",
  "test/bench",
  "test/fault",
  "vscode-client",
];

/** Returns the paths below a folder that are part of the repository, relative to it. */
function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return [path];
    return /^(node_modules|dist|build-output|artefacts|\..*)$/.test(entry.name) ? [] : filesBelow(path);
  });
}

function longerThan(lines: number, paths: readonly string[]): string[] {
  return paths
    .map((path) => ({ path, count: readFileSync(join(root, path), "utf8").split("\n").length - 1 }))
    .filter(({ count }) => count > lines)
    .map(({ path, count }) => `${path} has ${count} lines`);
}

const files = ["kernel", "vscode-client", "extensions", "examples", "test"].flatMap((folder) =>
  filesBelow(folder),
);

const code = files.filter((path) => /\.tsx?$/.test(path));
const isOfTests = (path: string): boolean => /\.test\.tsx?$|[\\/]testing[\\/]/.test(path);

test("a room's README has at most 40 lines", () => {
  const known = new Set(longReadmes.map((folder) => join(folder, "README.md")));
  const readmes = files.filter((path) => path.endsWith("README.md") && !known.has(path));
  expect(readmes.length).toBeGreaterThan(30);
  expect(longerThan(maxReadmeLines, readmes)).toEqual([]);
});

test("a source has at most 400 lines", () => {
  const sources = code.filter((path) => !isOfTests(path));
  expect(sources.length).toBeGreaterThan(500);
  expect(longerThan(maxSourceLines, sources)).toEqual([]);
});

test("a test file, and a helper beside tests, has at most 600 lines", () => {
  const tests = code.filter((path) => isOfTests(path));
  expect(tests.length).toBeGreaterThan(500);
  expect(longerThan(maxTestLines, tests)).toEqual([]);
});

test("a file that is too long is found", () => {
  const own = relative(root, fileURLToPath(import.meta.url));
  expect(longerThan(3, [own])).toEqual([expect.stringMatching(/sizes\.test\.ts has \d+ lines/)]);
});
