/** WebAssembly's binary format, as far as linking the guest needs it: sections, imports, limits, segments. */

export const sectionIds = {
  custom: 0,
  type: 1,
  import: 2,
  table: 4,
  memory: 5,
  export: 7,
  start: 8,
  element: 9,
  data: 11,
  dataCount: 12,
};
const opcodes = { end: 0x0b, globalGet: 0x23, i32Const: 0x41, i32Add: 0x6a };
const header = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
const importKinds = ["func", "table", "memory", "global"] as const;
type ImportKind = (typeof importKinds)[number];

export interface Section {
  readonly id: number;
  readonly body: Uint8Array;
}

export interface Import {
  readonly module: string;
  readonly name: string;
  readonly kind: ImportKind;
  /** For a function: the index of its type. */
  readonly typeIndex: number;
  /** The bytes after the kind, kept as they are. */
  readonly description: Uint8Array;
}

/** What a shared library (`dylink.0`) wants reserved for itself. */
export interface SharedLibraryNeeds {
  readonly memoryBytes: number;
  readonly tableEntries: number;
}

class Reader {
  readonly bytes: Uint8Array;
  at: number;
  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }
  get done(): boolean {
    return this.at >= this.bytes.length;
  }
  byte(): number {
    const value = this.bytes[this.at++];
    if (value === undefined) throw new Error("The module ends in the middle of something.");
    return value;
  }
  u32(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }
  take(length: number): Uint8Array {
    const taken = this.bytes.subarray(this.at, this.at + length);
    this.at += length;
    return taken;
  }
  text(): string {
    return new TextDecoder().decode(this.take(this.u32()));
  }
}

export function u32(value: number): Uint8Array {
  const out: number[] = [];
  let rest = value;
  do {
    const byte = rest % 128;
    rest = Math.floor(rest / 128);
    out.push(rest > 0 ? byte + 128 : byte);
  } while (rest > 0);
  return Uint8Array.from(out);
}

/** A constant expression `i32.const value end`; the value as signed LEB128. */
function i32Const(value: number): Uint8Array {
  const out = [0x41];
  let rest = value | 0;
  for (;;) {
    const byte = rest & 0x7f;
    rest >>= 7;
    const done = (rest === 0 && (byte & 0x40) === 0) || (rest === -1 && (byte & 0x40) !== 0);
    out.push(done ? byte : byte | 0x80);
    if (done) return Uint8Array.from([...out, 0x0b]);
  }
}

function text(value: string): Uint8Array {
  const bytes = new TextEncoder().encode(value);
  return join([u32(bytes.length), bytes]);
}

export function join(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

export function readSections(module: Uint8Array): Section[] {
  const reader = new Reader(module, header.length);
  const sections: Section[] = [];
  while (!reader.done) sections.push({ id: reader.byte(), body: reader.take(reader.u32()) });
  return sections;
}

export function writeSections(sections: readonly Section[]): Uint8Array {
  return join([header, ...sections.flatMap(({ id, body }) => [Uint8Array.of(id), u32(body.length), body])]);
}

export function bodyOf(sections: readonly Section[], id: number): Uint8Array {
  return sections.find((section) => section.id === id)?.body ?? new Uint8Array();
}

/** The sections, some of them with another body (by id). */
export function withBodies(sections: readonly Section[], bodies: Record<number, Uint8Array>): Section[] {
  return sections.map(({ id, body }) => ({ id, body: bodies[id] ?? body }));
}

export function readImports(sections: readonly Section[]): Import[] {
  const reader = new Reader(bodyOf(sections, sectionIds.import));
  return Array.from({ length: reader.u32() }, () => {
    const module = reader.text();
    const name = reader.text();
    const kind = importKinds[reader.byte()];
    if (kind === undefined) throw new Error(`Import ${module}.${name} is of an unknown kind.`);
    const start = reader.at;
    let typeIndex = 0;
    if (kind === "func") typeIndex = reader.u32();
    else if (kind === "global") reader.take(2);
    else {
      if (kind === "table") reader.byte();
      const hasMaximum = (reader.byte() & 1) === 1;
      reader.u32();
      if (hasMaximum) reader.u32();
    }
    return { module, name, kind, typeIndex, description: reader.bytes.slice(start, reader.at) };
  });
}

export function writeImports(imports: readonly Import[]): Uint8Array {
  const entries = imports.map((entry) =>
    join([
      text(entry.module),
      text(entry.name),
      Uint8Array.of(importKinds.indexOf(entry.kind)),
      entry.description,
    ]),
  );
  return join([u32(entries.length), ...entries]);
}

const valueTypes: Record<number, string> = { 0x7f: "i32", 0x7e: "i64", 0x7d: "f32", 0x7c: "f64" };

/** The function types, in WebAssembly's text format: `(param i32) (result i32)`. */
export function readTypes(sections: readonly Section[]): string[] {
  const reader = new Reader(bodyOf(sections, sectionIds.type));
  const list = (word: string): string => {
    const types = Array.from({ length: reader.u32() }, () => valueTypes[reader.byte()] ?? "unknown");
    return types.length === 0 ? "" : `(${word} ${types.join(" ")})`;
  };
  return Array.from({ length: reader.u32() }, () => {
    if (reader.byte() !== 0x60) throw new Error("Only function types are expected here.");
    return `${list("param")} ${list("result")}`;
  });
}

/** Prefixes the names under which a module exports, so that two libraries do not collide. */
export function prefixExports(body: Uint8Array, prefix: string): Uint8Array {
  const reader = new Reader(body);
  const entries = Array.from({ length: reader.u32() }, () => {
    const name = reader.text();
    const start = reader.at;
    reader.byte();
    reader.u32();
    return join([text(prefix + name), reader.bytes.slice(start, reader.at)]);
  });
  return join([u32(entries.length), ...entries]);
}

/** A table section with one table of at least `entries`. */
export function funcTable(entries: number): Uint8Array {
  return join([Uint8Array.of(1, 0x70, 0), u32(entries)]);
}

/** A memory section with one memory of at least `pages` of 64 KiB. */
export function memoryOf(pages: number): Uint8Array {
  return join([Uint8Array.of(1, 0), u32(pages)]);
}

/** A shared library's data as it lies from `__memory_base` on; its segments begin there, or a constant further. */
export function sharedLibraryData(sections: readonly Section[]): Uint8Array {
  const reader = new Reader(bodyOf(sections, sectionIds.data));
  const out: number[] = [];
  for (let left = reader.done ? 0 : reader.u32(); left > 0; left--) {
    if (reader.u32() !== 0 || reader.byte() !== opcodes.globalGet)
      throw new Error("Expected a data segment at __memory_base.");
    reader.u32();
    let offset = 0;
    if (reader.byte() === opcodes.i32Const) {
      offset = reader.u32();
      if (reader.byte() !== opcodes.i32Add || reader.byte() !== opcodes.end)
        throw new Error("Expected __memory_base + constant.");
    }
    reader.take(reader.u32()).forEach((byte, index) => (out[offset + index] = byte));
  }
  return Uint8Array.from(out, (byte: number | undefined) => byte ?? 0);
}

/** A shared library's table entries, moved from `__table_base` to a known place. */
export function elementsAt(body: Uint8Array, tableBase: number): Uint8Array {
  const reader = new Reader(body);
  if (reader.u32() !== 1 || reader.u32() !== 0 || reader.byte() !== opcodes.globalGet) {
    throw new Error("Expected one element segment at __table_base.");
  }
  reader.u32();
  reader.byte();
  return join([Uint8Array.of(1, 0), i32Const(tableBase), reader.take(body.length)]);
}

/** A data section that holds all of `memory` that is not zero. */
export function imageOf(memory: Uint8Array): Uint8Array {
  /** A gap shorter than this costs less as bytes than as a segment of its own. */
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
    segments.push(join([Uint8Array.of(0), i32Const(at), u32(end - at), memory.subarray(at, end)]));
    at = end;
  }
  return join([u32(segments.length), ...segments]);
}

export function sharedLibraryNeeds(sections: readonly Section[]): SharedLibraryNeeds {
  for (const section of sections) {
    if (section.id !== sectionIds.custom) continue;
    const reader = new Reader(section.body);
    if (reader.text() !== "dylink.0") continue;
    while (!reader.done) {
      const kind = reader.byte();
      const part = new Reader(reader.take(reader.u32()));
      if (kind !== 1) continue;
      const memoryBytes = part.u32();
      part.u32();
      return { memoryBytes, tableEntries: part.u32() };
    }
  }
  throw new Error("This is no shared library: it has no dylink.0 section.");
}
