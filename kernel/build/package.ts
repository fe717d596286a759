/**
 * Makes what the npm package carries beside the sources' built form: `dist/` as compiled JavaScript, and in
 * `dist/resources/` the documents and extensions that a checkout keeps at its top level.
 */
import { execFileSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

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
  !["node_modules", "dist", "test", "testing"].includes(basename(path)) && !path.endsWith(".test.ts");
for (const folder of ["manifests", "extensions"]) {
  cpSync(join(top, folder), join(dist, "resources", folder), { recursive: true, filter: isShipped });
}
console.log("kernel/dist is built");
