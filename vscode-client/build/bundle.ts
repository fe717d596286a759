import { cpSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type BuildOptions, type Plugin } from "esbuild";
import { licencesOf, packagesIn } from "../../kernel/build/licences.ts";
import { describe } from "./closure.ts";
import { copyTomlGrammar } from "./toml-grammar.ts";
import { buildTypescriptPlugin } from "./typescript-plugin.ts";

/**
 * Makes `dist/`: the extension as one file, beside it what it loads when it is needed, and each folder of `src/webviews/` that has a `main.ts` as
 * `webviews/<folder>.js` (and `.css`, where it imports one), and in `schemas/` those that other tools for YAML are
 * given; beside them the licences of all whose code is in it. `--sourcemap` adds maps, for debugging. Then the plugin for
 * TypeScript's server, which has no code of others.
 */
const here = fileURLToPath(new URL("..", import.meta.url));

const shared: BuildOptions = {
  bundle: true,
  minify: true,
  metafile: true,
  sourcemap: process.argv.includes("--sourcemap"),
  legalComments: "none",
  logLevel: "warning",
  absWorkingDir: here,
};

/** What is imported by `import()`: a file of its own, so that activation neither reads nor compiles it. */
const loadedLater = ["src/kernel/language-client.ts"];

const asFilesOfTheirOwn: Plugin = {
  name: "what is loaded later, as files of their own",
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) => {
      if (kind !== "dynamic-import") return undefined;
      const source = relative(here, join(resolveDir, path)).replaceAll("\\", "/");
      if (!loadedLater.includes(source)) return { errors: [{ text: `${source} is not among loadedLater` }] };
      return { path: `./${basename(source, ".ts")}.cjs`, external: true };
    });
  },
};

/** The oldest VS Code that `engines` names has Node 20 and Chromium 132. */
const extension = await build({
  ...shared,
  entryPoints: ["src/extension.ts", ...loadedLater],
  outdir: "dist",
  entryNames: "[name]",
  outExtension: { ".js": ".cjs" },
  platform: "node",
  format: "cjs",
  target: "node20",
  // In a file of CommonJS it is `require`, which is where the editor answers for "vscode".
  supported: { "dynamic-import": false },
  external: ["vscode"],
  mainFields: ["module", "main"],
  plugins: [asFilesOfTheirOwn],
});

const webviews = `${here}src/webviews`;
const entries = existsSync(webviews)
  ? readdirSync(webviews, { withFileTypes: true })
      .filter((folder) => folder.isDirectory() && existsSync(`${webviews}/${folder.name}/main.ts`))
      .map(({ name }) => ({ in: `src/webviews/${name}/main.ts`, out: name }))
  : [];
const pages = await build({
  ...shared,
  entryPoints: entries,
  outdir: "dist/webviews",
  platform: "browser",
  format: "iife",
  target: "chrome132",
});

for (const name of ["lares.schema.json", "extension.schema.json"])
  cpSync(`${here}../schemas/${name}`, `${here}dist/schemas/${name}`);

const inside = [extension, pages].flatMap(({ metafile }) =>
  metafile === undefined ? [] : packagesIn(metafile),
);
const licences = [licencesOf([...new Set(inside)].toSorted()), ...copyTomlGrammar(here)];
writeFileSync(`${here}dist/THIRD-PARTY-LICENSES.txt`, licences.join(`\n${"-".repeat(80)}\n\n`));

await buildTypescriptPlugin(here, describe(here).version);
