import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const repository = fileURLToPath(new URL("../../", import.meta.url));
const index = readFileSync(`${repository}/test/README.md`, "utf8");
const isTest = (path: string): boolean =>
  /\.(?:test|suite)\.tsx?$/.test(path) && !/(?:^|\/)(?:node_modules|dist)\//.test(path);

function testsBeneath(folder: string): readonly string[] {
  return readdirSync(`${repository}/${folder}`, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter(isTest);
}

/** The names in the index: test files of this folder, and folders of the repository. */
const named = [...index.matchAll(/`([^`\s]+)`/g)].map(([, name = ""]) => name);
const files = named.filter(isTest);
const folders = named.filter((name) => name.endsWith("/"));

test("every test file beneath test/ is in the index, and every one in the index is there", () => {
  expect([...new Set(files)].toSorted()).toEqual(testsBeneath("test").toSorted());
});

test("every folder that the index names has tests", () => {
  const outside = folders.filter((folder) => /^(?:kernel|extensions|vscode-client)\/./.test(folder));
  expect(outside.length).toBeGreaterThan(30);
  expect(outside.filter((folder) => testsBeneath(folder).length === 0)).toEqual([]);
});

test("every room of the kernel that has tests is in the index", () => {
  const rooms = readdirSync(`${repository}/kernel/src`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `kernel/src/${name}/`)
    .filter((room) => testsBeneath(room).length > 0);
  expect(rooms.filter((room) => !folders.some((folder) => folder.startsWith(room)))).toEqual([]);
});

test("a feature is listed once", () => {
  const features = [...index.matchAll(/^- \*\*(.+?)\*\*/gm)].map(([, feature]) => feature);
  expect(features.length).toBeGreaterThan(50);
  expect(features).toEqual([...new Set(features)]);
});
