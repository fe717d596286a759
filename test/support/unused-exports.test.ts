import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type Source, unusedExports } from "./unused-exports.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** What others than the files of this repository import: authors, VS Code, Mocha, the bundle of the guest. */
const entries = [
  /^extensions\/sdk\/src\/(index|testing\/index|cel|exif|xmp)\.ts$/,
  /^vscode-client\/src\/extension\.ts$/,
  // Stands for the editor's own module.
  /^vscode-client\/src\/testing\/vscode\.ts$/,
  /^kernel\/src\/sandbox\/guest\/runtime\/main\.ts$/,
  /^test\/e2e\/[a-z]+\/index\.ts$/,
  // AssemblyScript: what a module exports is its interface, and its files import each other as a whole.
  /^extensions\/sdk\/hnsw\/assembly\//,
  // Exports are in the texts of programs that a test runs.
  /\.test\.tsx?$/,
];

function sourcesBelow(folder: string): Source[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory())
      return /^(node_modules|dist|build-output|artefacts|globals|\..*)$/.test(entry.name)
        ? []
        : sourcesBelow(path);
    return /\.(tsx?|mjs|js)$/.test(entry.name) && !entry.name.endsWith(".d.ts")
      ? [{ path, text: readFileSync(join(root, path), "utf8") }]
      : [];
  });
}

test("every export is imported by another file (else drop the word export, or what nobody uses)", () => {
  const sources = ["kernel", "vscode-client", "extensions", "examples", "test"].flatMap(sourcesBelow);
  expect(sources.length).toBeGreaterThan(1000);
  expect(unusedExports(sources, (path) => entries.some((entry) => entry.test(path)))).toEqual([]);
});

test("exports that nobody imports are found, whichever way they are written", () => {
  const found = unusedExports(
    [
      {
        path: "a/one.ts",
        text: 'export const used = 1;\nexport function idle() {}\nexport { far } from "./two.ts";',
      },
      { path: "a/two.ts", text: "export const far = 2;\nexport interface Lone {}\nexport type { X as Y };" },
      {
        path: "b/three.ts",
        text: 'import {\n  used as mine,\n  type Wide,\n} from "../a/one.ts";\nexport class Wide {}',
      },
    ],
    () => false,
  );
  expect(found).toEqual(["a/one.ts idle", "a/one.ts far", "a/two.ts Lone", "a/two.ts Y", "b/three.ts Wide"]);
});

test("an import of a whole module uses the names that are written behind it", () => {
  const sources = [
    { path: "a.ts", text: "export const near = 1;\nexport const lone = 2;" },
    { path: "b.ts", text: 'import * as a from "./a.ts";\nconsole.log(a.near);' },
  ];
  expect(unusedExports(sources, () => false)).toEqual(["a.ts lone"]);
});
