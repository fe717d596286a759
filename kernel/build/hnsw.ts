/**
 * Compiles `extensions/sdk/hnsw/assembly/` (AssemblyScript) twice: `hnsw.wasm` with a memory of its own, and
 * `hnsw-linkable.wasm`, which works in the memory of the module it is merged into. Neither has anything else to import.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** Every guest carries it. */
export const maxHnswBytes = 8192;
/** Of the module with its own memory, in pages of 64 KiB: 1 GiB. */
const maxPages = 16_384;

const sources = fileURLToPath(new URL("../../extensions/sdk/hnsw/assembly/", import.meta.url));
const compilerFolder = dirname(createRequire(import.meta.url).resolve("assemblyscript/package.json"));

export interface HnswModules {
  readonly standalone: Uint8Array;
  readonly linkable: Uint8Array;
}

/** All that decides what comes out, for a stamp. */
export function hnswInputs(): string[] {
  const files = readdirSync(sources).toSorted();
  return [
    fileURLToPath(import.meta.url),
    ...files.map((name) => join(sources, name)),
    join(compilerFolder, "package.json"),
  ];
}

/** Throws where one of them is larger than `maxHnswBytes` or has an import it should not have. */
export function compileHnsw(): HnswModules {
  const standalone = compile("standalone.ts", ["--initialMemory", "1", "--maximumMemory", `${maxPages}`]);
  const linkable = compile("linkable.ts", ["--importMemory", "--noExportMemory"]);
  assertImports(standalone, "");
  assertImports(linkable, "memory env.memory");
  return { standalone, linkable };
}

function compile(source: string, flags: readonly string[]): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), "lares-hnsw-"));
  try {
    const out = join(folder, "out.wasm");
    const compiler = join(compilerFolder, "bin", "asc.js");
    const always = ["-Oz", "--converge", "--runtime", "stub", "--noAssert", "--lowMemoryLimit", "0"];
    execFileSync(process.execPath, [compiler, source, "-o", out, ...always, ...flags], {
      cwd: sources,
      stdio: ["ignore", "ignore", "inherit"],
    });
    const module = new Uint8Array(readFileSync(out));
    if (module.length > maxHnswBytes)
      throw new Error(`${source} compiles to ${module.length} bytes; at most ${maxHnswBytes} are allowed.`);
    return module;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function assertImports(module: Uint8Array, expected: string): void {
  const found = WebAssembly.Module.imports(new WebAssembly.Module(new Uint8Array(module)))
    .map((entry) => `${entry.kind} ${entry.module}.${entry.name}`)
    .join();
  if (found !== expected)
    throw new Error(`The index for guests imports "${found}" instead of "${expected}".`);
}
