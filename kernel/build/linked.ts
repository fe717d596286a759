/**
 * Provides the modules in `kernel/build/linked/`, which are committed: linking them takes compilers of 115 MB, and
 * their sources seldom change. Links them again, from the sources and with the compilers of
 * `kernel/build/compilers/`, if they do not match the sources.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { imageExports, type Linked } from "./guest/image.ts";
import { type Library, placeLibraries } from "./guest/libraries.ts";
import { link, prune } from "./guest/link.ts";
import { compileHnsw, hnswInputs } from "./hnsw.ts";
import { compilers, installNested } from "./nested-package.ts";

const here = dirname(fileURLToPath(import.meta.url));
const guestFolder = join(here, "guest");
const folder = join(here, "linked");
const digestsFile = join(folder, "digests.json");
const names = ["whole.wasm", "pruned.wasm", "hnsw.wasm", "hnsw-linkable.wasm"] as const;
type Modules = Readonly<Record<(typeof names)[number], Uint8Array>>;
/** SHA-256 in hexadecimal, by file, and of all inputs together as "inputs". */
type Digests = Readonly<Record<string, string>>;

const packageFile = createRequire(import.meta.url).resolve;
const quickjsFile = packageFile("quickjs-wasi/quickjs.wasm");
const libraryFiles = ["encoding", "structured_clone", "url"].map((name) => ({
  name,
  file: packageFile(`quickjs-wasi/${name.replace("_", "-")}.so`),
}));

export interface LinkedModules extends Linked {
  readonly hnsw: { readonly standalone: Uint8Array; readonly linkable: Uint8Array };
}

/** Returns the modules; `isRelinked` rebuilds them in any case. */
export function linkedModules({ isRelinked = false } = {}): LinkedModules {
  const libraries = placeLibraries(
    read(quickjsFile),
    libraryFiles.map(({ name, file }): Library => ({ name, bytes: read(file) })),
  );
  const inputs = digestOfInputs();
  const modules = (isRelinked ? undefined : committed(inputs)) ?? relink(inputs, libraries);
  return {
    whole: modules["whole.wasm"],
    pruned: modules["pruned.wasm"],
    libraries,
    hnsw: { standalone: modules["hnsw.wasm"], linkable: modules["hnsw-linkable.wasm"] },
  };
}

/** Covers all inputs of the build, whatever line endings git checked out. */
function digestOfInputs(): string {
  const sources = [
    fileURLToPath(import.meta.url),
    ...readdirSync(guestFolder)
      .filter((name) => /\.(wat|ts)$/.test(name))
      .toSorted()
      .map((name) => join(guestFolder, name)),
    ...["binary.ts", "sections.ts"].map((name) => join(here, "../src/sandbox/prepare", name)),
    ...hnswInputs(),
    join(here, "compilers", "package-lock.json"),
  ];
  const hash = createHash("sha256");
  for (const file of sources) hash.update(readFileSync(file, "utf8").replaceAll("\r\n", "\n")).update("\0");
  for (const file of [quickjsFile, ...libraryFiles.map(({ file }) => file)])
    hash.update(readFileSync(file)).update("\0");
  return hash.digest("hex");
}

function committed(inputs: string): Modules | undefined {
  try {
    const digests = JSON.parse(readFileSync(digestsFile, "utf8")) as Digests;
    if (digests["inputs"] !== inputs) return undefined;
    const modules = names.map((name) => [name, read(join(folder, name))] as const);
    for (const [name, bytes] of modules) {
      // A damaged module is an error instead of a reason to link, so that whoever changed it notices.
      if (digests[name] !== sha256(bytes))
        throw new Error(`${join(folder, name)} is not what digests.json says. Run: npm run build:linked`);
    }
    return Object.fromEntries(modules) as unknown as Modules;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function relink(inputs: string, libraries: ReturnType<typeof placeLibraries>): Modules {
  const resolve = installNested(compilers);
  const binaryen = join(dirname(resolve("binaryen")), "bin");
  const hnsw = compileHnsw(join(dirname(resolve("assemblyscript/package.json")), "bin", "asc.js"));
  const wat = (name: string): string => readFileSync(join(guestFolder, `${name}.wat`), "utf8");
  const whole = link(
    read(quickjsFile),
    libraries,
    [
      { name: "hnsw", content: hnsw.linkable },
      { name: "vectors", content: wat("vectors") },
      { name: "shim", content: wat("shim") },
    ],
    binaryen,
  );
  const modules: Modules = {
    "whole.wasm": whole,
    "pruned.wasm": prune(whole, imageExports, binaryen),
    "hnsw.wasm": hnsw.standalone,
    "hnsw-linkable.wasm": hnsw.linkable,
  };
  mkdirSync(folder, { recursive: true });
  const digests: Digests = {
    inputs,
    ...Object.fromEntries(names.map((name) => [name, sha256(modules[name])])),
  };
  for (const name of names) writeFileSync(join(folder, name), modules[name]);
  writeFileSync(digestsFile, `${JSON.stringify(digests, null, 2)}\n`);
  for (const name of names) console.log(`Linked kernel/build/linked/${name}: ${modules[name].length} bytes`);
  return modules;
}

function read(file: string): Uint8Array {
  return new Uint8Array(readFileSync(file));
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

if (import.meta.main) linkedModules({ isRelinked: true });
