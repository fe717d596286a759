/**
 * Makes what the npm package carries beside the sources' built form: `dist/` as compiled JavaScript, and in
 * `dist/resources/` the documents and extensions that a checkout keeps at its top level.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { licencesOf, packagesIn } from "./licences.ts";

const kernel = join(dirname(fileURLToPath(import.meta.url)), "..");
const top = join(kernel, "..");
const dist = join(kernel, "dist");

rmSync(dist, { recursive: true, force: true });
const compiler = join(
  dirname(createRequire(import.meta.url).resolve("typescript/package.json")),
  "bin",
  "tsc",
);
execFileSync(process.execPath, [compiler, "-p", join(kernel, "tsconfig.build.json")], { stdio: "inherit" });
const isShipped = (path: string): boolean =>
  !["node_modules", "dist", "test", "testing", "assembly"].includes(basename(path)) &&
  !/\.test\.ts$|tsconfig.*\.json$/.test(path);
const resources = join(dist, "resources");
for (const folder of ["manifests", "extensions"]) {
  cpSync(join(top, folder), join(resources, folder), { recursive: true, filter: isShipped });
}
// Programs are bundled with the SDK's sources; their tests, which Node runs, use what was built.
const sdkDist = join("extensions", "sdk", "dist");
if (!existsSync(join(top, sdkDist)))
  throw new Error("There is no extensions/sdk/dist; run: npm run build:sdk");
for (const file of readdirSync(join(top, sdkDist)).filter((name) => name.endsWith(".js")))
  cpSync(join(top, sdkDist, file), join(resources, sdkDist, file));

/**
 * A child that may read nothing but named folders cannot look a package up where a package manager keeps links in
 * `node_modules` (pnpm does): following one reads beside those folders. So it brings what it imports.
 */
const narrowChild = join(dist, "tools", "argument-process.js");
const { metafile } = await build({
  entryPoints: [narrowChild],
  outfile: narrowChild,
  allowOverwrite: true,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "es2024",
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
  tsconfigRaw: {},
});
// The first one's code is in guest.wasm.
const inside = ["quickjs-wasi", ...packagesIn(metafile)];
writeFileSync(join(dist, "THIRD-PARTY-LICENSES.txt"), licencesOf(inside));
console.log("kernel/dist is built");
