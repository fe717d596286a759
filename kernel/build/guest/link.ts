/** Joins QuickJS, its native libraries (URL, TextEncoder, structuredClone) and the modules of our own into one. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join as joinPath } from "node:path";
import {
  bodyOf,
  elementsAt,
  funcTable,
  type Import,
  sharedLibraryData,
  prefixExports,
  readImports,
  readSections,
  readTypes,
  sectionIds,
  sharedLibraryNeeds,
  withBodies,
  writeImports,
  writeSections,
} from "./binary.ts";

export interface Library {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A module that imports from the others by their names, and from QuickJS as "env". */
export interface Part {
  readonly name: string;
  /** Text, or a module's bytes. */
  readonly content: string | Uint8Array;
}

/** A library as it lies in the linked module; its exports are named `<name>:<export>`. */
export interface LinkedLibrary {
  readonly name: string;
  readonly memoryBase: number;
  readonly memoryBytes: number;
  /** Not in the module: to be written to `memoryBase`. */
  readonly data: Uint8Array;
}

export interface Linked {
  readonly module: Uint8Array;
  readonly libraries: readonly LinkedLibrary[];
}

/** The WebAssembly features QuickJS is compiled with, and no proposals beyond. */
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

/** Of a library: its data is put into the image, and its start function only zeroes what `malloc` was asked for. */
const leftOut = new Set([sectionIds.custom, sectionIds.start, sectionIds.dataCount, sectionIds.data]);

/**
 * The libraries are position independent: each is told where its memory and its table entries begin. The
 * memory is what `malloc` gives when it is asked for the libraries' sizes, in order, right after
 * `_initialize`; whoever makes the image asks again and must get the same. One of our own parts is "shim": what QuickJS
 * asks of its host.
 */
export function link(quickjs: Uint8Array, libraries: readonly Library[], own: readonly Part[]): Linked {
  const main = readSections(quickjs);
  const needs = libraries.map((library) => sharedLibraryNeeds(readSections(library.bytes)));
  const bases = placesFor(
    quickjs,
    needs.map((need) => need.memoryBytes),
  );
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
    const linked = libraries.map((library, index): LinkedLibrary => {
      const sections = readSections(library.bytes);
      const memoryBase = bases[index] ?? 0;
      const memoryBytes = needs[index]?.memoryBytes ?? 0;
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
        [sectionIds.import]: writeImports(imports),
        [sectionIds.export]: prefixExports(bodyOf(sections, sectionIds.export), `${library.name}:`),
        [sectionIds.element]: elementsAt(bodyOf(sections, sectionIds.element), tableEnd),
      }).filter(({ id }) => !leftOut.has(id));
      add(
        environment,
        `${library.name}.env.wat`,
        environmentOf(imports, environment, readTypes(sections), memoryBase, tableEnd),
      );
      add(library.name, `${library.name}.wasm`, writeSections(rest));
      tableEnd += needs[index]?.tableEntries ?? 0;
      return { name: library.name, memoryBase, memoryBytes, data: sharedLibraryData(sections) };
    });

    const open = readImports(main).map((entry) =>
      entry.module === "env" ? { ...entry, module: "shim" } : entry,
    );
    const widened = withBodies(main, {
      [sectionIds.import]: writeImports(open),
      [sectionIds.table]: funcTable(tableEnd),
    }).filter(({ id }) => id !== sectionIds.custom);
    const mainFile = joinPath(folder, "quickjs.wasm");
    writeFileSync(mainFile, writeSections(widened));
    for (const { name, content } of own)
      add(name, `${name}.${typeof content === "string" ? "wat" : "wasm"}`, content);

    const out = joinPath(folder, "linked.wasm");
    const merge = joinPath(dirname(createRequire(import.meta.url).resolve("binaryen")), "bin", "wasm-merge");
    const flags = features.map((name) => `--enable-${name}`);
    execFileSync(process.execPath, [merge, mainFile, "env", ...parts, "-o", out, ...flags], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    return { module: new Uint8Array(readFileSync(out)), libraries: linked };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function ownNames(library: Uint8Array): Set<string> {
  return new Set(WebAssembly.Module.exports(new WebAssembly.Module(library)).map((entry) => entry.name));
}

function tableEntriesOf(sections: ReturnType<typeof readSections>): number {
  const body = bodyOf(sections, sectionIds.table);
  // One table of funcref; its minimum as LEB128.
  let value = 0;
  for (let at = 3, shift = 0; at < body.length; at++, shift += 7) {
    const byte = body[at] ?? 0;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) break;
  }
  return value;
}

/** What a library asks for and QuickJS does not have: its places, and a trap for each C function that is never called. */
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
    // Addresses of what is not there: 0, as a weak symbol's.
    else lines.set(name, `(global (export "${name}") (mut i32) (i32.const 0))`);
  }
  return `(module ${[...lines.values()].join("\n")})`;
}

function placesFor(quickjs: Uint8Array, sizes: readonly number[]): number[] {
  const module = new WebAssembly.Module(quickjs);
  const imports: Record<string, Record<string, () => number>> = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module))
    (imports[from] ??= {})[name] = () => 0;
  const { exports } = new WebAssembly.Instance(module, imports);
  const { _initialize, malloc } = exports as Record<string, (size?: number) => number>;
  _initialize?.();
  return sizes.map((size) => malloc?.(size) ?? 0);
}
