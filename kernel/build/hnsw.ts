/**
 * Compiles `extensions/sdk/hnsw/assembly/` (AssemblyScript) twice: `hnsw.wasm` with its own memory, and
 * `hnsw-linkable.wasm`, which works in the memory of the module it is merged into. Neither has other imports.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The size limit, because every guest contains it. */
export const maxHnswBytes = 8192;
/** The memory limit of the standalone module, in pages of 64 KiB: 1 GiB. */
const maxPages = 16_384;

const sources = fileURLToPath(new URL("../../extensions/sdk/hnsw/assembly/", import.meta.url));

interface HnswModules {
  readonly standalone: Uint8Array;
  readonly linkable: Uint8Array;
}

export function hnswInputs(): string[] {
  const files = readdirSync(sources).toSorted();
  return [fileURLToPath(import.meta.url), ...files.map((name) => join(sources, name))];
}

/** Compiles both with AssemblyScript's `asc`. Throws if one exceeds `maxHnswBytes` or has an unexpected import. */
export function compileHnsw(compiler: string): HnswModules {
  const standalone = compile(compiler, "standalone.ts", [
    "--initialMemory",
    "1",
    "--maximumMemory",
    `${maxPages}`,
  ]);
  const linkable = compile(compiler, "linkable.ts", ["--importMemory", "--noExportMemory"]);
  assertImports(standalone, "");
  assertImports(linkable, "memory env.memory");
  return { standalone, linkable };
}

function compile(compiler: string, source: string, flags: readonly string[]): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), "lares-hnsw-"));
  try {
    const out = join(folder, "out.wasm");
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
