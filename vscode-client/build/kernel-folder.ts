import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { closureOf, describe, type Package } from "./closure.ts";
import { isLoaded, modulesReachedFrom } from "./loaded.ts";

/** Packages that are dependencies and are not shipped. */
const leftOut = new Set([
  // Links against the system's libfaiss: usearch serves.
  "faiss-node",
  // Headers that usearch is compiled with, which it is.
  "node-addon-api",
]);

/**
 * Lays the built kernel into `folder` as `lib/node_modules/lares` beside exactly what it loads, and as `node/bin/node`
 * the Node that this project's tests run under. Answers whose code that is.
 */
export async function layKernel(options: {
  /** The checkout, with its installed `node_modules` and a built `kernel/dist`. */
  readonly top: string;
  readonly folder: string;
  readonly platform: string;
  readonly architecture: string;
}): Promise<readonly Package[]> {
  const { top, folder, platform, architecture } = options;
  const kernel = join(top, "kernel");
  const target = `${platform}-${architecture}`;
  const lares = join(folder, "lib", "node_modules", "lares");
  for (const path of ["package.json", "LICENSE", "bin", "dist", join("build-output", "guest.wasm")])
    cpSync(join(kernel, path), join(lares, path), { recursive: true });

  const packages = closureOf({
    top,
    root: kernel,
    platform,
    architecture,
    isLeftOut: (name) => leftOut.has(name),
  });
  const reached = await modulesReachedFrom(entriesOf(kernel), top, [...leftOut, ...optionalPeers(kernel)]);
  const missing = [...reached].filter((path) => !isIn(path, [kernel, ...packages.map((one) => one.folder)]));
  if (missing.length > 0) throw new Error(`Loaded, and of no dependency: ${missing.join(", ")}`);
  for (const one of packages)
    for (const path of filesBelow(one.folder))
      if (isLoaded(one, path, target, reached))
        copy(join(one.folder, path), join(folder, "lib", placeOf(one), path));

  const executable = join("node", "bin", platform === "win32" ? "node.exe" : "node");
  mkdirSync(dirname(join(folder, executable)), { recursive: true });
  cpSync(realpathSync(process.execPath), join(folder, executable));
  chmodSync(join(folder, executable), 0o755);
  copy(join(nodePackage(top, target), "LICENSE"), join(folder, "node", "LICENSE"));
  if (platform === "linux") for (const file of nativesBelow(folder)) strip(file);
  return packages;
}

/** What the kernel looks up by name at run time, to hand it to a child or to load it when it is first needed. */
const lookedUp = ["usearch", "esbuild", "@wasmer/sdk/browser"];

/** Some of the kernel's modules are processes or threads of their own, and others are loaded when they are needed: all. */
function entriesOf(kernel: string): string[] {
  const dist = join(kernel, "dist");
  const own = filesBelow(dist).filter((path) => path.endsWith(".js") && !path.startsWith("resources/"));
  const require = createRequire(join(kernel, "package.json"));
  return [...own.map((path) => join(dist, path)), ...lookedUp.map((name) => require.resolve(name))];
}

/** Brought by whoever wants them; without them the kernel says what it does instead. */
function optionalPeers(kernel: string): string[] {
  return Object.entries(describe(kernel).peerDependenciesMeta ?? {})
    .filter(([, { optional }]) => optional === true)
    .map(([name]) => name);
}

/** Files at any depth, with "/", but not of the packages within. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, "/"))
    .filter((path) => !/(^|\/)node_modules\//.test(path))
    .toSorted();
}

function isIn(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path.startsWith(realpathSync(folder) + sep));
}

function placeOf({ place }: Package): string {
  return place.startsWith("kernel") ? join("node_modules", "lares", relative("kernel", place)) : place;
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { dereference: true });
}

/** npm's package `node` installs the one of the platform within itself; the licence of Node is there. */
function nodePackage(top: string, target: string): string {
  const name = `node-${target.replace("win32", "win")}`;
  const candidates = [
    join(top, "node_modules", "node", "node_modules", name),
    join(top, "node_modules", name),
  ];
  const found = candidates.find((folder) => existsSync(join(folder, "LICENSE")));
  if (found === undefined)
    throw new Error(`${name} is not there, and with it the licence of Node: run npm rebuild node.`);
  if (`v${describe(found).version}` !== process.version)
    throw new Error(`This is Node ${process.version}; start this by npm run package.`);
  return found;
}

function nativesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => /\.(node|so)$|\/bin\/node$/.test(path) && statSync(path).size > 0);
}

/** Symbols for debuggers only: an eighth of Node and a seventh of DuckDB. What is dynamically linked stays. */
function strip(file: string): void {
  const { error, status, stderr } = spawnSync("strip", ["--strip-unneeded", file], { encoding: "utf8" });
  if (error !== undefined) throw new Error("Not found: strip. Debian: apt-get install binutils");
  if (status !== 0) throw new Error(`strip ${file}: ${stderr}`);
}
