/** Joins QuickJS, its native libraries (URL, TextEncoder, structuredClone) and our own modules into one. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join as joinPath } from "node:path";
import process from "node:process";
import {
  bodyOf,
  elementsAt,
  funcTable,
  type Import,
  keepExports,
  prefixExports,
  readImports,
  readSections,
  readTypes,
  sharedLibraryNeeds,
  withBodies,
  writeImports,
  writeSections,
} from "./binary.ts";
import { BinaryReader } from "../../src/sandbox/prepare/binary.ts";
import { section } from "../../src/sandbox/prepare/sections.ts";
import type { Library, PlacedLibrary } from "./libraries.ts";

/** A module that imports from the others by their names, and from QuickJS as "env". */
interface Part {
  readonly name: string;
  /** Text, or a module's bytes. */
  readonly content: string | Uint8Array;
}

/** The WebAssembly features with which QuickJS is compiled, and no later proposals. */
const features = [
  "bulk-memory",
  "bulk-memory-opt",
  "call-indirect-overlong",
  "reference-types",
  "multivalue",
  "sign-ext",
  "nontrapping-float-to-int",
  "mutable-globals",
];

const enabled = features.map((name) => `--enable-${name}`);
const passes = [
  "--remove-unused-module-elements",
  "--simplify-globals",
  "--duplicate-import-elimination",
  "--remove-unused-module-elements",
  "--vacuum",
];

/** Sections of libraries that are omitted: the image has their data, and their start only zeroes memory of `malloc`. */
const leftOut = new Set<number>([section.custom, section.start, section.dataCount, section.data]);

/**
 * Returns the module that joins QuickJS, the placed libraries and our own parts. One of our own parts is "shim",
 * the host functions of QuickJS. `binaryen` is the folder with Binaryen's command-line tools.
 */
export function link(
  quickjs: Uint8Array,
  libraries: readonly (Library & PlacedLibrary)[],
  own: readonly Part[],
  binaryen: string,
): Uint8Array {
  const main = readSections(quickjs);
  const mainExports = new Set(
    WebAssembly.Module.exports(new WebAssembly.Module(quickjs)).map((entry) => entry.name),
  );

  const folder = mkdtempSync(joinPath(tmpdir(), "lares-guest-"));
  try {
    const parts: string[] = [];
    const add = (name: string, file: string, content: Uint8Array | string): void => {
      writeFileSync(joinPath(folder, file), content);
      parts.push(joinPath(folder, file), name);
    };
    let tableEnd = tableEntriesOf(main);
    for (const library of libraries) {
      const sections = readSections(library.bytes);
      const environment = `${library.name}.env`;
      const inside = ownNames(library.bytes);
      const place = (entry: Import): Import => {
        const name = `${library.name}:${entry.name}`;
        if (entry.module.startsWith("GOT.")) return { ...entry, module: environment, name };
        if (entry.module !== "env" || mainExports.has(entry.name)) return entry;
        return { ...entry, module: inside.has(entry.name) ? library.name : environment, name };
      };
      const imports = readImports(sections).map(place);
      const rest = withBodies(sections, {
        [section.import]: writeImports(imports),
        [section.export]: prefixExports(bodyOf(sections, section.export), `${library.name}:`),
        [section.element]: elementsAt(bodyOf(sections, section.element), tableEnd),
      }).filter(({ id }) => !leftOut.has(id));
      add(
        environment,
        `${library.name}.env.wat`,
        environmentOf(imports, environment, readTypes(sections), library.memoryBase, tableEnd),
      );
      add(library.name, `${library.name}.wasm`, writeSections(rest));
      tableEnd += sharedLibraryNeeds(sections).tableEntries;
    }

    const open = readImports(main).map((entry) =>
      entry.module === "env" ? { ...entry, module: "shim" } : entry,
    );
    const widened = withBodies(main, {
      [section.import]: writeImports(open),
      [section.table]: funcTable(tableEnd),
    }).filter(({ id }) => id !== section.custom);
    const mainFile = joinPath(folder, "quickjs.wasm");
    writeFileSync(mainFile, writeSections(widened));
    for (const { name, content } of own)
      add(name, `${name}.${typeof content === "string" ? "wat" : "wasm"}`, content);

    const out = joinPath(folder, "linked.wasm");
    run(joinPath(binaryen, "wasm-merge"), [mainFile, "env", ...parts, "-o", out, ...enabled]);
    return new Uint8Array(readFileSync(out));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Returns the module without its data and without everything that is unreachable from the exports in `kept`, which
 * are the only remaining ones.
 */
export function prune(module: Uint8Array, kept: ReadonlySet<string>, binaryen: string): Uint8Array {
  const folder = mkdtempSync(joinPath(tmpdir(), "lares-guest-"));
  try {
    const [whole, out] = [joinPath(folder, "whole.wasm"), joinPath(folder, "pruned.wasm")];
    const sections = readSections(module);
    const exports = keepExports(bodyOf(sections, section.export), kept);
    writeFileSync(whole, writeSections(withBodies(sections, { [section.export]: exports })));
    run(joinPath(binaryen, "wasm-opt"), [whole, "-o", out, ...enabled, ...passes]);
    const pruned = readSections(new Uint8Array(readFileSync(out)));
    const noSegments = Uint8Array.of(0);
    return writeSections(
      withBodies(
        pruned.filter(({ id }) => id !== section.dataCount && id !== section.custom),
        { [section.data]: noSegments },
      ),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(tool: string, args: readonly string[]): void {
  execFileSync(process.execPath, [tool, ...args], { stdio: ["ignore", "ignore", "inherit"] });
}

function ownNames(library: Uint8Array): Set<string> {
  return new Set(WebAssembly.Module.exports(new WebAssembly.Module(library)).map((entry) => entry.name));
}

function tableEntriesOf(sections: ReturnType<typeof readSections>): number {
  // Reads the minimum of the only funcref table.
  const reader = new BinaryReader(bodyOf(sections, section.table), 3);
  return reader.u32();
}

/** Defines what a library imports and QuickJS lacks: its addresses, and traps for C functions that are never called. */
function environmentOf(
  imports: readonly Import[],
  environment: string,
  types: readonly string[],
  memoryBase: number,
  tableBase: number,
): string {
  const places: Record<string, number> = { __memory_base: memoryBase, __table_base: tableBase };
  const lines = new Map<string, string>();
  for (const { module, name, kind, typeIndex } of imports) {
    if (module !== environment) continue;
    const place = places[name.slice(name.indexOf(":") + 1)];
    if (kind === "func") lines.set(name, `(func (export "${name}") ${types[typeIndex] ?? ""} unreachable)`);
    else if (place !== undefined) lines.set(name, `(global (export "${name}") i32 (i32.const ${place}))`);
    // The address of a missing symbol is 0, as for a weak symbol.
    else lines.set(name, `(global (export "${name}") (mut i32) (i32.const 0))`);
  }
  return `(module ${[...lines.values()].join("\n")})`;
}
