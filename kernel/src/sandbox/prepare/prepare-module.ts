import { ModuleRefusal } from "./binary.ts";
import { pagesPerMegabyte, prepareBounds as bounds } from "./bounds.ts";
import { type ModuleOutline, readModule } from "./module-reader.ts";
import { treatmentOf, wasiModule } from "./preview1.ts";
import { rewriteModule } from "./rewrite.ts";

/** Increase this number with every change to the preparation, to invalidate cached modules. */
export const prepareVersion = 3;

type RefusalCode =
  "malformed" | "tooLarge" | "start" | "memory" | "import" | "feature" | "options" | "internal";

export type PreparedModule =
  | {
      readonly ok: true;
      readonly bytes: Uint8Array;
      readonly initialPages: number;
      readonly maxPages: number;
    }
  | { readonly ok: false; readonly code: RefusalCode; readonly message: string };

/**
 * Turns an untrusted WASI preview 1 command into one that may run; see `rewriteModule` for the changes. The time is
 * proportional to the module's size; prepare hostile input in a thread that can be terminated.
 */
export function prepareModule(bytes: Uint8Array, options: { readonly maxMemoryMb: number }): PreparedModule {
  try {
    return prepare(bytes, options.maxMemoryMb);
  } catch (error) {
    if (error instanceof ModuleRefusal)
      return { ok: false, code: error.code as RefusalCode, message: error.message };
    throw error;
  }
}

function prepare(bytes: Uint8Array, maxMemoryMb: number): PreparedModule {
  if (!Number.isInteger(maxMemoryMb) || maxMemoryMb < 1 || maxMemoryMb > bounds.maxMemoryMb) {
    throw new ModuleRefusal(
      "options",
      `max_memory_mb is ${maxMemoryMb}; it must be a whole number from 1 to ${bounds.maxMemoryMb}.`,
    );
  }
  if (bytes.length > bounds.maxModuleBytes) {
    throw new ModuleRefusal(
      "tooLarge",
      `The module is ${bytes.length} bytes; at most ${bounds.maxModuleBytes} are allowed (maxModuleBytes).`,
    );
  }
  compile(bytes, "malformed", "The module is not valid WebAssembly");
  const outline = readModule(bytes);
  const start = startFunction(outline);
  const memory = outline.exports.find((entry) => entry.name === "memory");
  if (memory === undefined || memory.kind !== 2) {
    throw new ModuleRefusal(
      "memory",
      'The module does not export its memory as "memory", which a WASI command must do.',
    );
  }
  const allowedPages = maxMemoryMb * pagesPerMegabyte;
  const maxPages = Math.min(outline.memory.maxPages ?? allowedPages, allowedPages);
  if (outline.memory.initialPages > maxPages) {
    throw new ModuleRefusal(
      "memory",
      `The module starts with ${outline.memory.initialPages / pagesPerMegabyte} MB of memory; max_memory_mb is ${maxMemoryMb}.`,
    );
  }
  const rewritten = rewriteModule(outline, start, maxPages);
  assertSafe(compile(rewritten, "internal", "The module could not be rewritten"));
  return { ok: true, bytes: rewritten, initialPages: outline.memory.initialPages, maxPages };
}

function compile(bytes: Uint8Array, code: RefusalCode, what: string): WebAssembly.Module {
  try {
    return new WebAssembly.Module(bytes);
  } catch (error) {
    if (!(error instanceof WebAssembly.CompileError) && !(error instanceof RangeError)) throw error;
    throw new ModuleRefusal(code, `${what}: ${error.message.replace(/^WebAssembly\.Module\(\):\s*/, "")}.`);
  }
}

function startFunction(outline: ModuleOutline): number {
  const found = outline.exports.find((entry) => entry.name === "_start");
  if (found === undefined || found.kind !== 0) {
    throw new ModuleRefusal(
      "start",
      'The module exports no function "_start"; an agent is a WASI command, not a library (reactor).',
    );
  }
  const type = outline.imports[found.index]?.type ?? outline.functions[found.index - outline.imports.length];
  if (type === undefined || outline.types[type] !== ":") {
    throw new ModuleRefusal(
      "start",
      'The module\'s "_start" has parameters or a result; in a WASI command it has neither.',
    );
  }
  return found.index;
}

/**
 * Checks the result with the engine itself: the module that runs must not import or export anything else, even if
 * the rewriting has a bug.
 */
function assertSafe(module: WebAssembly.Module): void {
  for (const entry of WebAssembly.Module.imports(module)) {
    const kept = entry.module === wasiModule && entry.kind === "function" && treatmentOf(entry.name).kind;
    if (kept !== "kept" && kept !== "guarded")
      throw new ModuleRefusal("internal", "The rewritten module has an import that is not allowed.");
  }
  const exports = WebAssembly.Module.exports(module).map((entry) => `${entry.kind} ${entry.name}`);
  if (exports.join() !== "memory memory,function _start") {
    throw new ModuleRefusal("internal", "The rewritten module has an unexpected export.");
  }
}
