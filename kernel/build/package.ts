/**
 * Builds what the npm package contains besides the bundled sources: `dist/` as JavaScript, and in `dist/resources/`
 * the documents and extensions that a checkout keeps at its top level.
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { licencesOf, packagesIn } from "./licences.ts";
import { bundleModules } from "./modules.ts";

const kernel = join(dirname(fileURLToPath(import.meta.url)), "..");
const top = join(kernel, "..");
const dist = join(kernel, "dist");

rmSync(dist, { recursive: true, force: true });
const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
  readFileSync(join(kernel, "package.json"), "utf8"),
) as Record<string, Record<string, string>>;
const metafile = await bundleModules({
  sources: join(kernel, "src"),
  dist,
  external: [dependencies, optionalDependencies, peerDependencies].flatMap((names) =>
    Object.keys(names ?? {}),
  ),
});
// Templates have tests and sources of their authors' programs.
const templates = join(top, "manifests", "templates");
const isShipped = (path: string): boolean =>
  path.startsWith(templates) ||
  (!["node_modules", "dist", "test", "testing", "assembly"].includes(basename(path)) &&
    !/\.test\.ts$|tsconfig.*\.json$/.test(path));
const resources = join(dist, "resources");
for (const folder of ["manifests", "extensions"]) {
  cpSync(join(top, folder), join(resources, folder), { recursive: true, filter: isShipped });
}
// Programs are bundled with the SDK's sources; their tests run in Node.js and use the built SDK.
const sdkDist = join("extensions", "sdk", "dist");
if (!existsSync(join(top, sdkDist)))
  throw new Error("There is no extensions/sdk/dist; run: npm run build:sdk");
for (const file of readdirSync(join(top, sdkDist)).filter((name) => name.endsWith(".js")))
  cpSync(join(top, sdkDist, file), join(resources, sdkDist, file));

// The code of the first package is in guest.wasm, that of the others in parts of the SDK that programs import.
const inside = ["quickjs-wasi", "exifreader", "saxes", "xmlchars", ...packagesIn(metafile)];
writeFileSync(join(dist, "THIRD-PARTY-LICENSES.txt"), licencesOf(inside));
console.log("kernel/dist is built");
