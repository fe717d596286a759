/**
 * Builds `extensions/sdk/dist`: `@lares/sdk` for everyone outside this checkout. Its JavaScript needs no other
 * package (it includes the kernel's policy for `testing`), and its declarations refer only to each other.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, posix, relative, sep } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { licencesOf, packagesIn } from "./licences.ts";

const top = fileURLToPath(new URL("../../", import.meta.url));
const sdk = join(top, "extensions", "sdk");
const dist = join(sdk, "dist");
const entries = {
  index: "src/index.ts",
  testing: "src/testing/index.ts",
  cel: "src/cel.ts",
  exif: "src/exif.ts",
  xmp: "src/xmp.ts",
};

rmSync(dist, { recursive: true, force: true });

// The entries share their common code, so an error of one is an instance of the other's class.
const { metafile } = await build({
  absWorkingDir: sdk,
  entryPoints: entries,
  outdir: dist,
  bundle: true,
  splitting: true,
  chunkNames: "shared-[hash]",
  format: "esm",
  platform: "node",
  target: "es2024",
  treeShaking: true,
  legalComments: "none",
  metafile: true,
  // Keeps esbuild from looking for a tsconfig.json.
  tsconfigRaw: {},
});
writeFileSync(join(dist, "THIRD-PARTY-LICENSES.txt"), licencesOf(packagesIn(metafile)));

const declarations = mkdtempSync(join(sdk, "dist", "declarations-"));
try {
  const compiler = join(
    dirname(createRequire(import.meta.url).resolve("typescript/package.json")),
    "bin",
    "tsc",
  );
  execFileSync(
    process.execPath,
    [compiler, "-p", join(sdk, "tsconfig.build.json"), "--outDir", declarations],
    { stdio: "inherit" },
  );
  copyDeclarations(declarations);
} finally {
  rmSync(declarations, { recursive: true, force: true });
}
console.log("extensions/sdk/dist is built");

/** Copies the declarations that the entries use to their sources' places beneath `dist/types/`. */
function copyDeclarations(from: string): void {
  const root = join("extensions", "sdk", "src").split(sep).join("/");
  const waiting = Object.values(entries).map((path) => posix.join("extensions/sdk", path));
  const seen = new Set(waiting);
  for (let source = waiting.pop(); source !== undefined; source = waiting.pop()) {
    if (!source.startsWith(`${root}/`))
      throw new Error(
        `The SDK's declarations refer to ${source} outside the package. Define the type in the SDK.`,
      );
    const text = readFileSync(join(from, source.replace(/\.ts$/, ".d.ts")), "utf8");
    const target = join(dist, "types", relative(root, source).replace(/\.ts$/, ".d.ts"));
    mkdirSync(dirname(target), { recursive: true });
    const rewritten = text.replaceAll(
      /(from |import\()"(\.{1,2}\/[^"]+)\.ts"/g,
      (_, before: string, path: string) => {
        const next = posix.join(posix.dirname(source), `${path}.ts`);
        if (!seen.has(next)) waiting.push(next);
        seen.add(next);
        return `${before}"${path}.js"`;
      },
    );
    writeFileSync(target, rewritten);
  }
}
