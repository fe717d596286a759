import { BinaryReader, ModuleRefusal } from "./binary.ts";
import { prepareBounds as bounds } from "./bounds.ts";
import { readValueType } from "./instructions.ts";

export const section = {
  type: 1,
  import: 2,
  function: 3,
  table: 4,
  memory: 5,
  global: 6,
  export: 7,
  start: 8,
  element: 9,
  code: 10,
  data: 11,
  dataCount: 12,
  tag: 13,
} as const;

export interface FunctionImport {
  readonly module: string;
  readonly name: string;
  readonly type: number;
}

export interface ModuleOutline {
  /** Each section's content, by id; custom sections are left out. */
  readonly sections: ReadonlyMap<number, Uint8Array>;
  /** Signature of each type, in the form of `signatureText`. */
  readonly types: readonly string[];
  readonly imports: readonly FunctionImport[];
  /** Type index of each function the module defines. */
  readonly functions: readonly number[];
  readonly memory: { readonly initialPages: number; readonly maxPages: number | null };
  readonly exports: readonly { readonly name: string; readonly kind: number; readonly index: number }[];
  readonly start: number | null;
}

const letters: ReadonlyMap<number, string> = new Map([
  [0x7f, "i"],
  [0x7e, "I"],
  [0x7d, "f"],
  [0x7c, "F"],
  [0x7b, "v"],
]);

/** Reads a module that the engine has already found valid. Throws ModuleRefusal. */
export function readModule(bytes: Uint8Array): ModuleOutline {
  const sections = readSections(bytes);
  const reader = (id: number): BinaryReader => new BinaryReader(sections.get(id) ?? new Uint8Array([0]));
  if (sections.has(section.tag)) {
    throw new ModuleRefusal(
      "feature",
      "The module uses exceptions, which agents may not; compile it for WebAssembly 2.0.",
    );
  }
  return {
    sections,
    types: readTypes(reader(section.type)),
    imports: readImports(reader(section.import)),
    functions: readFunctions(reader(section.function)),
    memory: readMemory(reader(section.memory)),
    exports: readExports(reader(section.export)),
    start: sections.has(section.start) ? reader(section.start).u32() : null,
  };
}

function readSections(bytes: Uint8Array): Map<number, Uint8Array> {
  const sections = new Map<number, Uint8Array>();
  const reader = new BinaryReader(bytes, 8);
  while (!reader.done) {
    const id = reader.byte();
    const content = reader.slice(reader.u32());
    if (id !== 0) sections.set(id, bytes.subarray(content.position, content.end));
  }
  return sections;
}

/** A vector's length, refused over its bound. */
export function boundedCount(reader: BinaryReader, bound: number, name: string, things: string): number {
  const count = reader.u32();
  if (count > bound) {
    throw new ModuleRefusal(
      "tooLarge",
      `The module has ${count} ${things}; at most ${bound} are allowed (${name}).`,
    );
  }
  return count;
}

function readTypes(reader: BinaryReader): string[] {
  const types: string[] = [];
  const count = boundedCount(reader, bounds.maxTypes, "maxTypes", "types");
  const list = (): string => {
    let text = "";
    for (let left = reader.u32(); left > 0; left--) text += letters.get(readValueType(reader)) ?? "r";
    return text;
  };
  for (let index = 0; index < count; index++) {
    if (reader.byte() !== 0x60) {
      throw new ModuleRefusal(
        "feature",
        "The module uses garbage collection types, which agents may not; compile it for WebAssembly 2.0.",
      );
    }
    const parameters = list();
    types.push(`${parameters}:${list()}`);
  }
  return types;
}

const importKinds = ["a function", "a table", "a memory", "a global", "a tag"] as const;

function readImports(reader: BinaryReader): FunctionImport[] {
  const imports: FunctionImport[] = [];
  const count = boundedCount(reader, bounds.maxImports, "maxImports", "imports");
  for (let index = 0; index < count; index++) {
    const module = reader.text();
    const name = reader.text();
    const kind = reader.byte();
    if (kind !== 0) {
      throw new ModuleRefusal(
        "import",
        `The module imports ${importKinds[kind] ?? "something unknown"} ("${shown(module)}" "${shown(name)}"); an agent may import only functions of wasi_snapshot_preview1.`,
      );
    }
    imports.push({ module, name, type: reader.u32() });
  }
  return imports;
}

function readFunctions(reader: BinaryReader): number[] {
  const functions: number[] = [];
  const count = boundedCount(reader, bounds.maxFunctions, "maxFunctions", "functions");
  for (let index = 0; index < count; index++) functions.push(reader.u32());
  return functions;
}

function readMemory(reader: BinaryReader): ModuleOutline["memory"] {
  const count = reader.u32();
  if (count === 0)
    throw new ModuleRefusal("memory", 'The module has no memory; a WASI command exports one as "memory".');
  if (count > 1)
    throw new ModuleRefusal("memory", `The module has ${count} memories; an agent may have one.`);
  const flags = reader.byte();
  if ((flags & 0x02) !== 0)
    throw new ModuleRefusal("memory", "The module's memory is shared (threads), which agents may not use.");
  if ((flags & 0x04) !== 0)
    throw new ModuleRefusal(
      "memory",
      "The module's memory has 64-bit addresses (memory64), which agents may not use.",
    );
  if (flags > 0x01)
    throw new ModuleRefusal("memory", `The module's memory has limits of an unknown kind (${flags}).`);
  const initialPages = reader.u32();
  return { initialPages, maxPages: flags === 1 ? reader.u32() : null };
}

function readExports(reader: BinaryReader): ModuleOutline["exports"] {
  const exports: { name: string; kind: number; index: number }[] = [];
  for (let left = reader.u32(); left > 0; left--) {
    exports.push({ name: reader.text(), kind: reader.byte(), index: reader.u32() });
  }
  return exports;
}

/** A name out of a hostile module, as a message may hold it. */
export function shown(name: string): string {
  const printable = name.slice(0, 80).replaceAll(/\p{C}/gu, "?");
  return name.length > 80 ? `${printable}…` : printable;
}
