import { realpathSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import type { Package } from "./closure.ts";

/**
 * Modules that JavaScript reaches from `entries`, by `import` or `require` of a name that stands there: real paths.
 * What is reached in other ways (addons, WebAssembly, workers) is named in `natives`; packages in `notThere` are not
 * followed.
 */
export async function modulesReachedFrom(
  entries: readonly string[],
  folder: string,
  notThere: readonly string[],
): Promise<Set<string>> {
  const { metafile } = await build({
    entryPoints: [...entries],
    absWorkingDir: folder,
    outdir: join(folder, "never-written"),
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    // As Node resolves: without it esbuild would take a condition that only bundlers know.
    conditions: [],
    external: ["*.node", ...notThere],
    loader: { ".wasm": "empty" },
    logLevel: "error",
    // Optional ones that are not there are asked for in a `try`.
    logOverride: { "require-resolve-not-external": "silent" },
    tsconfigRaw: {},
  });
  return new Set(Object.keys(metafile.inputs).map((path) => realpathSync(join(folder, path))));
}

const natives: Readonly<Record<string, (path: string, target: string) => boolean>> = {
  "@wasmer/sdk": (path) => /^(dist|pkg)\/.*\.(js|wasm)$/.test(path),
  "@duckdb/node-bindings": (path) => path.endsWith(".js"),
  // A copy of the executable lies in `esbuild/bin`, too; the one of the platform is what is started.
  "@esbuild": (path) => path.startsWith("bin/") || path === "esbuild.exe",
  "@duckdb/node-bindings-": (path) => /\.(node|so|dylib|dll)$/.test(path),
  // WebAssembly, which a module loads by its path. The README names the licences of what is linked into it.
  "@img/sharp-wasm32": (path) => /^(index\.cjs|versions\.json|README\.md|lib\/.*)$/.test(path),
  "@emnapi/runtime": (path) => /^(index\.js|dist\/emnapi\.cjs.*\.js)$/.test(path),
  usearch: (path, target) => path.startsWith("prebuilds/") && fitsPrebuild(path, target),
};
const licence = /^(licen[cs]e|notice|copying|third-?party)[^/]*$/i;

/** Whether a file of a package is loaded on `target`, e.g. "linux-x64", or has to be there: description and licence. */
export function isLoaded(one: Package, path: string, target: string, reached: ReadonlySet<string>): boolean {
  if (path === "package.json" || path.endsWith("/package.json") || licence.test(path)) return true;
  if (reached.has(realpathSync(join(one.folder, path)))) return true;
  const { name } = one;
  const rule = natives[name] ?? natives[name.replace(/\/.*/, "")] ?? natives[platformless(name, target)];
  return rule?.(path, target) ?? false;
}

function platformless(name: string, target: string): string {
  return name.endsWith(target) ? name.slice(0, -target.length) : name;
}

/** `prebuilds/darwin-arm64+x64/…` serves two. */
function fitsPrebuild(path: string, target: string): boolean {
  const [platform, architecture = ""] = target.split("-");
  const [builtFor = "", builtOn = ""] = (path.split("/")[1] ?? "").split("-");
  return builtFor === platform && builtOn.split("+").includes(architecture);
}
