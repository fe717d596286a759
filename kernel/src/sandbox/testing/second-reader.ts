import fc from "fast-check";
import wabtModule from "wabt";
import { BinaryReader, BinaryWriter } from "../prepare/binary.ts";
import { copyBody, readValueType } from "../prepare/instructions.ts";
import { readModule } from "../prepare/module-reader.ts";
import { treatmentOf, wasiModule } from "../prepare/preview1.ts";
import { section } from "../prepare/sections.ts";

/** The features that `instruction-table.ts` allows: WebAssembly 2.0, tail calls, extended constants, relaxed SIMD. */
const features = {
  bulk_memory: true,
  exceptions: false,
  extended_const: true,
  function_references: false,
  gc: false,
  memory64: false,
  multi_memory: false,
  multi_value: true,
  mutable_globals: true,
  reference_types: true,
  relaxed_simd: true,
  sat_float_to_int: true,
  sign_extension: true,
  simd: true,
  tail_call: true,
  threads: false,
};

/** What a reader sees in a module: its imports, and the calls and references of each function. */
export interface Reading {
  readonly imports: readonly string[];
  /** In order: `call 3`, `return_call 3`, `ref.func 3`, `memory.grow`. */
  readonly functions: readonly (readonly string[])[];
}

const calls = /\b(?:return_call|call|ref\.func) \d+|\bmemory\.grow\b/g;

/** Returns a function that reads a module with WABT. It returns null for a module that WABT rejects. */
export async function secondReader(): Promise<(bytes: Uint8Array) => Reading | null> {
  const wabt = await wabtModule();
  return (bytes) => {
    let module;
    try {
      module = wabt.readWasm(bytes, features);
      module.validate();
      const text = module.toText({ foldExprs: false, inlineExport: false });
      const imports = [...text.matchAll(/\(import "([^"]*)" "([^"]*)"/g)].map(
        ([, from, name]) => `${from} ${name}`,
      );
      const own = text.split(/\n {2}(?=\()/).filter((part) => part.startsWith("(func "));
      return { imports, functions: own.map((part) => part.match(calls) ?? []) };
    } catch {
      return null;
    } finally {
      module?.destroy();
    }
  };
}

/** Reads a module with the reader of `prepare/`. Throws ModuleRefusal. */
export function firstReading(bytes: Uint8Array): Reading {
  const outline = readModule(bytes);
  const reader = new BinaryReader(outline.sections.get(section.code) ?? new Uint8Array([0]));
  const functions: string[][] = [];
  for (let left = reader.u32(); left > 0; left--) {
    const body = reader.slice(reader.u32());
    for (let locals = body.u32(); locals > 0; locals--) {
      body.u32();
      readValueType(body);
    }
    functions.push(callsOf(body));
  }
  return { imports: outline.imports.map(({ module, name }) => `${module} ${name}`), functions };
}

/** The mapping replaces each call with a unique mark, so that the calls can be found again. */
function callsOf(body: BinaryReader): string[] {
  const found: string[] = [];
  const growFunction = -1;
  const writer = new (class extends BinaryWriter {
    #code = 0;
    override byte(value: number): this {
      this.#code = value;
      return super.byte(value);
    }
    override u32(value: number): this {
      const name = { 0x10: "call", 0x12: "return_call", 0xd2: "ref.func" }[this.#code] ?? "unknown";
      found.push(value === growFunction ? "memory.grow" : `${name} ${value}`);
      return this;
    }
  })();
  copyBody(body, writer, { functionIndex: (index) => index, growFunction, onReference: () => undefined });
  return found;
}

/**
 * Returns how a prepared module breaks its guarantees according to the second reader; null if it does not. Only the
 * guards may call the functions that take a descriptor, once each, and nothing may refer to them.
 */
export function promiseBroken(reading: Reading): string | null {
  const guarded = new Map<string, string>();
  for (const [index, name] of reading.imports.entries())
    if (treatmentOf(name.slice(wasiModule.length + 1)).kind === "guarded") guarded.set(String(index), name);
  const used = new Map<string, number>();
  for (const entry of reading.functions.flat()) {
    const [how = "", index = ""] = entry.split(" ");
    const name = guarded.get(index);
    if (name === undefined) continue;
    if (how !== "call") return `${name} is used by ${entry}`;
    used.set(name, (used.get(name) ?? 0) + 1);
    if ((used.get(name) ?? 0) > 1) return `${name} is called outside its guard`;
  }
  return null;
}

/** Bytes that are likely to have a meaning: small numbers, opcodes, flags, starts and ends of numbers. */
const byte = fc.oneof(
  fc.nat(3),
  fc.constantFrom(
    0x0b,
    0x10,
    0x12,
    0x20,
    0x40,
    0x41,
    0x42,
    0x43,
    0x60,
    0x6f,
    0x70,
    0x7b,
    0x7f,
    0x80,
    0xc0,
    0xd2,
    0xff,
  ),
  fc.nat(255),
);

/**
 * One instruction after an `unreachable`, where any types are valid. So nearly every well-formed encoding is valid,
 * including those of proposals that agents may not use.
 */
const instruction: fc.Arbitrary<number[]> = fc
  .tuple(
    fc.oneof(
      fc.nat(255).map((code) => [code]),
      fc.integer({ min: 0x20, max: 0x40 }).map((code) => [code]),
      fc.constantFrom(0x02, 0x04, 0x0e, 0x10, 0x11, 0x12, 0x1c, 0x41, 0x42, 0xd0, 0xd2).map((code) => [code]),
      fc.nat(20).map((code) => [0xfc, code]),
      fc.nat(0x140).map((code) => [0xfd, ...unsigned(code)]),
      fc.constantFrom(
        [0xfb, 0x00],
        [0xfe, 0x10],
        [0xfc, 0x88, 0x00],
        [0xfc, 0x8b, 0x80, 0x00],
        [0xfd, 0x80, 0x00],
      ),
    ),
    fc.array(byte, { maxLength: 4 }),
    // Lanes, vectors and floats need many bytes.
    fc.oneof(
      { weight: 5, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.constantFrom(4, 8, 12, 16) },
    ),
  )
  .map(([code, immediates, zeros]) => [
    0x00,
    ...code,
    ...immediates,
    ...Array.from({ length: zeros }, () => 0),
  ]);

export const instructions: fc.Arbitrary<number[]> = fc
  .array(instruction, { minLength: 1, maxLength: 3 })
  .map((all) => all.flat());

function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, value >> 7];
}

/**
 * Returns a WASI command with these instructions, which may leave anything on the stack, and with one item of
 * everything that indices may refer to.
 */
export function moduleOf(code: readonly number[]): Uint8Array {
  const sized = (bytes: readonly number[]): BinaryWriter => new BinaryWriter().raw(Uint8Array.from(bytes));
  const part = (id: number, bytes: readonly number[]): void => void module.byte(id).sized(sized(bytes));
  const name = (text: string): number[] => [text.length, ...Buffer.from(text)];
  const module = new BinaryWriter().raw(Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]));
  part(section.type, [2, 0x60, 0, 0, 0x60, 4, 0x7f, 0x7f, 0x7f, 0x7f, 1, 0x7f]);
  const imported = (text: string): number[] => [name(wasiModule), name(text), [0, 1]].flat();
  part(section.import, [[2], imported("fd_write"), imported("fd_read")].flat());
  part(section.function, [1, 0]);
  part(section.table, [1, 0x70, 0, 4]);
  part(section.memory, [1, 0, 1]);
  part(section.global, [1, 0x7f, 1, 0x41, 0, 0x0b]);
  part(section.export, [2, ...name("memory"), 2, 0, ...name("_start"), 0, 2]);
  part(section.element, [1, 0, 0x41, 0, 0x0b, 2, 0, 1]);
  part(section.dataCount, [1]);
  const body = new BinaryWriter().raw(Uint8Array.from([1, 2, 0x7f, ...code, 0x00, 0x0b]));
  module.byte(section.code).sized(new BinaryWriter().u32(1).sized(body));
  part(section.data, [1, 1, 0]);
  return module.view().slice();
}
