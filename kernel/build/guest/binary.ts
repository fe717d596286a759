/** WebAssembly's binary format, as far as linking the guest needs it: sections, imports, limits, segments. */

import { BinaryReader, BinaryWriter } from "../../src/sandbox/prepare/binary.ts";
import { moduleHeader, section, sectionsIn } from "../../src/sandbox/prepare/sections.ts";

const opcodes = { end: 0x0b, globalGet: 0x23, i32Const: 0x41, i32Add: 0x6a };
const importKinds = ["func", "table", "memory", "global"] as const;
type ImportKind = (typeof importKinds)[number];

interface Section {
  readonly id: number;
  readonly body: Uint8Array;
}

export interface Import {
  readonly module: string;
  readonly name: string;
  readonly kind: ImportKind;
  /** For a function, the index of its type. */
  readonly typeIndex: number;
  /** The bytes after the kind, unchanged. */
  readonly description: Uint8Array;
}

/** The memory and table sizes that a shared library (`dylink.0`) requires. */
interface SharedLibraryNeeds {
  readonly memoryBytes: number;
  readonly tableEntries: number;
}

/** Encodes a vector: the count, then the items. */
function listOf(items: readonly Uint8Array[]): Uint8Array {
  const writer = new BinaryWriter().u32(items.length);
  for (const item of items) writer.raw(item);
  return writer.view();
}

/** Reads a vector's items one by one. */
function readList<Item>(reader: BinaryReader, read: (index: number) => Item): Item[] {
  return Array.from({ length: reader.u32() }, (_, index) => read(index));
}

export function readSections(module: Uint8Array): Section[] {
  return Array.from(sectionsIn(module), ({ id, content }) => ({ id, body: content.take() }));
}

export function writeSections(sections: readonly Section[]): Uint8Array {
  const writer = new BinaryWriter().raw(moduleHeader);
  for (const { id, body } of sections) writer.byte(id).u32(body.length).raw(body);
  return writer.view();
}

export function bodyOf(sections: readonly Section[], id: number): Uint8Array {
  return sections.find((each) => each.id === id)?.body ?? Uint8Array.of(0);
}

/** Returns the sections with some bodies replaced (by id). */
export function withBodies(sections: readonly Section[], bodies: Record<number, Uint8Array>): Section[] {
  return sections.map(({ id, body }) => ({ id, body: bodies[id] ?? body }));
}

export function readImports(sections: readonly Section[]): Import[] {
  const reader = new BinaryReader(bodyOf(sections, section.import));
  return readList(reader, () => {
    const module = reader.text();
    const name = reader.text();
    const kind = importKinds[reader.byte()];
    if (kind === undefined) throw new Error(`Import ${module}.${name} is of an unknown kind.`);
    const start = reader.position;
    let typeIndex = 0;
    if (kind === "func") typeIndex = reader.u32();
    else if (kind === "global") reader.skip(2);
    else {
      if (kind === "table") reader.byte();
      const hasMaximum = (reader.byte() & 1) === 1;
      reader.u32();
      if (hasMaximum) reader.u32();
    }
    return { module, name, kind, typeIndex, description: reader.bytes.slice(start, reader.position) };
  });
}

export function writeImports(imports: readonly Import[]): Uint8Array {
  const writer = new BinaryWriter().u32(imports.length);
  for (const { module, name, kind, description } of imports)
    writer.text(module).text(name).byte(importKinds.indexOf(kind)).raw(description);
  return writer.view();
}

const valueTypes: Record<number, string> = { 0x7f: "i32", 0x7e: "i64", 0x7d: "f32", 0x7c: "f64" };

/** Returns the function types in WebAssembly's text format: `(param i32) (result i32)`. */
export function readTypes(sections: readonly Section[]): string[] {
  const reader = new BinaryReader(bodyOf(sections, section.type));
  const list = (word: string): string => {
    const types = readList(reader, () => valueTypes[reader.byte()] ?? "unknown");
    return types.length === 0 ? "" : `(${word} ${types.join(" ")})`;
  };
  return readList(reader, () => {
    if (reader.byte() !== 0x60) throw new Error("Only function types are expected here.");
    return `${list("param")} ${list("result")}`;
  });
}

/** Prefixes the names of a module's exports, so that two libraries do not collide. */
export function prefixExports(body: Uint8Array, prefix: string): Uint8Array {
  return writeExports(readExports(body).map((entry) => ({ ...entry, name: prefix + entry.name })));
}

/** Returns the export section with only the exports in `kept`. */
export function keepExports(body: Uint8Array, kept: ReadonlySet<string>): Uint8Array {
  return writeExports(readExports(body).filter(({ name }) => kept.has(name)));
}

interface Export {
  readonly name: string;
  readonly kind: number;
  /** Counts within the kind. */
  readonly index: number;
}

export function readExports(body: Uint8Array): Export[] {
  const reader = new BinaryReader(body);
  return readList(reader, () => ({ name: reader.text(), kind: reader.byte(), index: reader.u32() }));
}

function writeExports(exports: readonly Export[]): Uint8Array {
  const writer = new BinaryWriter().u32(exports.length);
  for (const { name, kind, index } of exports) writer.text(name).byte(kind).u32(index);
  return writer.view();
}

/** Returns the global section of a module without imported globals, with other initial values for some i32 globals. */
export function globalsStartingAt(body: Uint8Array, values: ReadonlyMap<number, number>): Uint8Array {
  const reader = new BinaryReader(body);
  const writer = new BinaryWriter().u32(reader.u32());
  for (let index = 0; !reader.done; index++) {
    writer.raw(reader.take(2)).byte(opcodes.i32Const);
    if (reader.byte() !== opcodes.i32Const)
      throw new Error("Expected a global that starts at a constant i32.");
    const value = reader.s32();
    if (reader.byte() !== opcodes.end) throw new Error("Expected a global that starts at a constant i32.");
    writer.s32(values.get(index) ?? value).byte(opcodes.end);
  }
  return writer.view();
}

/** Returns a table section with one table of at least `entries`. */
export function funcTable(entries: number): Uint8Array {
  return new BinaryWriter().u32(1).byte(0x70).byte(0).u32(entries).view();
}

/** Returns a memory section with one memory of at least `pages` of 64 KiB. */
export function memoryOf(pages: number): Uint8Array {
  return new BinaryWriter().u32(1).byte(0).u32(pages).view();
}

/** Returns a shared library's data from `__memory_base` on; its segments begin there, or at a constant offset. */
export function sharedLibraryData(sections: readonly Section[]): Uint8Array {
  const reader = new BinaryReader(bodyOf(sections, section.data));
  const out: number[] = [];
  for (let left = reader.u32(); left > 0; left--) {
    if (reader.u32() !== 0 || reader.byte() !== opcodes.globalGet)
      throw new Error("Expected a data segment at __memory_base.");
    reader.u32();
    let offset = 0;
    if (reader.byte() === opcodes.i32Const) {
      offset = reader.s32();
      if (reader.byte() !== opcodes.i32Add || reader.byte() !== opcodes.end)
        throw new Error("Expected __memory_base + constant.");
    }
    reader.take(reader.u32()).forEach((byte, index) => (out[offset + index] = byte));
  }
  return Uint8Array.from(out, (byte: number | undefined) => byte ?? 0);
}

/** Returns a shared library's table entries, moved from `__table_base` to a known place. */
export function elementsAt(body: Uint8Array, tableBase: number): Uint8Array {
  const reader = new BinaryReader(body);
  if (reader.u32() !== 1 || reader.u32() !== 0 || reader.byte() !== opcodes.globalGet) {
    throw new Error("Expected one element segment at __table_base.");
  }
  reader.u32();
  reader.byte();
  const writer = new BinaryWriter().u32(1).u32(0);
  return writer.byte(opcodes.i32Const).s32(tableBase).byte(opcodes.end).raw(reader.take()).view();
}

/** Returns a data section with everything in `memory` that is not zero. */
export function imageOf(memory: Uint8Array): Uint8Array {
  /** A shorter gap costs less as bytes than as a separate segment. */
  const smallestGapBytes = 32;
  const segments: Uint8Array[] = [];
  let at = 0;
  for (;;) {
    while (at < memory.length && memory[at] === 0) at++;
    if (at >= memory.length) break;
    let end = at;
    for (let zeros = 0, i = at; i < memory.length && zeros < smallestGapBytes; i++) {
      if (memory[i] === 0) zeros++;
      else {
        zeros = 0;
        end = i + 1;
      }
    }
    const place = new BinaryWriter().u32(0).byte(opcodes.i32Const).s32(at).byte(opcodes.end);
    segments.push(
      place
        .u32(end - at)
        .raw(memory.subarray(at, end))
        .view(),
    );
    at = end;
  }
  return listOf(segments);
}

export function sharedLibraryNeeds(sections: readonly Section[]): SharedLibraryNeeds {
  for (const { id, body } of sections) {
    if (id !== section.custom) continue;
    const reader = new BinaryReader(body);
    if (reader.text() !== "dylink.0") continue;
    while (!reader.done) {
      const kind = reader.byte();
      const part = reader.slice(reader.u32());
      if (kind !== 1) continue;
      const memoryBytes = part.u32();
      part.u32();
      return { memoryBytes, tableEntries: part.u32() };
    }
  }
  throw new Error("This is not a shared library: it has no dylink.0 section.");
}
