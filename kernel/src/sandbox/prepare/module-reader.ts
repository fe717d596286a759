import { BinaryReader, ModuleRefusal } from "./binary.ts";
import { prepareBounds as bounds } from "./bounds.ts";
import { readValueType } from "./instructions.ts";
import { section, sectionsIn } from "./sections.ts";

interface FunctionImport {
  readonly module: string;
  readonly name: string;
  readonly type: number;
}

export interface ModuleOutline {
  /** The content of each section, by id; custom sections are omitted. */
  readonly sections: ReadonlyMap<number, Uint8Array>;
  /** The signature of each type, in the form of `signatureText`. */
  readonly types: readonly string[];
  readonly imports: readonly FunctionImport[];
  /** The type index of each function that the module defines. */
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

/** The required order of sections. The tag section belongs to exceptions. */
const order: readonly number[] = [
  section.type,
  section.import,
  section.function,
  section.table,
  section.memory,
  section.global,
  section.export,
  section.start,
  section.element,
  section.dataCount,
  section.code,
  section.data,
];

/**
 * Reads a module that the engine has already validated. Throws ModuleRefusal for everything that is not exactly
 * WebAssembly 2.0, including unknown sections and unread bytes: the engine may support later proposals and
 * interpret them differently from this reader.
 */
export function readModule(bytes: Uint8Array): ModuleOutline {
  const sections = readSections(bytes);
  const read = <Result>(id: number, what: string, reading: (reader: BinaryReader) => Result): Result => {
    const reader = new BinaryReader(sections.get(id) ?? new Uint8Array([0]));
    const result = reading(reader);
    reader.expectEnd(what);
    return result;
  };
  return {
    sections,
    types: read(section.type, "its types", readTypes),
    imports: read(section.import, "its imports", readImports),
    functions: read(section.function, "its functions", readFunctions),
    memory: read(section.memory, "its memory", readMemory),
    exports: read(section.export, "its exports", readExports),
    start: sections.has(section.start)
      ? read(section.start, "its start function", (reader) => reader.u32())
      : null,
  };
}

function readSections(bytes: Uint8Array): Map<number, Uint8Array> {
  const sections = new Map<number, Uint8Array>();
  let last = -1;
  for (const { id, content } of sectionsIn(bytes)) {
    if (id === section.custom) continue;
    if (id === section.tag) {
      throw new ModuleRefusal(
        "feature",
        "The module uses exceptions, which agents may not use. Compile it for WebAssembly 2.0.",
      );
    }
    const rank = order.indexOf(id);
    if (rank <= last)
      throw new ModuleRefusal("feature", `The module has a section ${id} that is unknown or out of order.`);
    last = rank;
    sections.set(id, bytes.subarray(content.position, content.end));
  }
  return sections;
}

/** Reads a vector's length. Throws ModuleRefusal if it exceeds the bound. */
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
        "The module uses garbage collection types, which agents may not use. Compile it for WebAssembly 2.0.",
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
    throw new ModuleRefusal(
      "memory",
      'The module has no memory. A WASI command must export one as "memory".',
    );
  if (count > 1)
    throw new ModuleRefusal("memory", `The module has ${count} memories; an agent may have only one.`);
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
    const name = reader.text();
    const kind = reader.byte();
    // A function, a table, a memory or a global.
    if (kind > 3)
      throw new ModuleRefusal("feature", `The module exports "${shown(name)}", which is of an unknown kind.`);
    exports.push({ name, kind, index: reader.u32() });
  }
  return exports;
}

/** Returns a name of a hostile module in a form that is safe in a message. */
export function shown(name: string): string {
  const printable = name.slice(0, 80).replaceAll(/\p{C}/gu, "?");
  return name.length > 80 ? `${printable}…` : printable;
}
