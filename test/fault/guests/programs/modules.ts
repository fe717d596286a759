import { assemble } from "../../../support/wasm.ts";

/** Modules that are meant to overwhelm their readers. */

const memory = '(memory (export "memory") 1)';
const start = '(func (export "_start"))';
const text = (...parts: readonly string[]): Uint8Array => assemble(`(module ${parts.join(" ")})`);

export const unknownModule = text('(import "env" "open_the_door" (func))', memory, start);
export const unknownFunction = text('(import "wasi_snapshot_preview1" "fd_teleport" (func))', memory, start);
export const importedMemory = text('(import "env" "memory" (memory 1))', start);
export const hugeMemory = text('(memory (export "memory") 65536)', start);
export const manyTables = text(memory, "(table 1 funcref)".repeat(50), start);
export const hugeTable = text(memory, "(table 4294967295 funcref)", start);
export const noStart = text(memory);
/** Deeper than a recursive reader can follow. */
export const deepBlocks = (): Uint8Array =>
  wasm([typeSection(1), functionSection(1), memorySection, exportSection, codeSection(1, deepBody(200_000))]);

/** A function needs no more than four bytes: a million of them are a small file. */
export const millionFunctions = (): Uint8Array =>
  wasm([
    typeSection(1),
    functionSection(1_000_000),
    memorySection,
    exportSection,
    codeSection(1_000_000, [2, 0, 0x0b]),
  ]);

/** Ten bytes that declare a million variables. */
export const millionLocals = (): Uint8Array =>
  wasm([
    typeSection(1),
    functionSection(1),
    memorySection,
    exportSection,
    codeSection(1, sized([1, ...leb(1_000_000), 0x7f, 0x0b])),
  ]);

export const millionTypes = (): Uint8Array =>
  wasm([
    typeSection(200_000),
    functionSection(1),
    memorySection,
    exportSection,
    codeSection(1, [2, 0, 0x0b]),
  ]);

/** Thirty megabytes for a memory of one page. */
export const hugeData = (): Uint8Array =>
  wasm([
    typeSection(1),
    functionSection(1),
    memorySection,
    exportSection,
    codeSection(1, [2, 0, 0x0b]),
    section(11, concat([[1, 0, 0x41, 0, 0x0b], leb(30_000_000), new Uint8Array(30_000_000)])),
  ]);

export const millionSegments = (): Uint8Array =>
  wasm([
    typeSection(1),
    functionSection(1),
    memorySection,
    exportSection,
    codeSection(1, [2, 0, 0x0b]),
    section(11, concat([leb(1_000_000), repeated([0, 0x41, 0, 0x0b, 0], 1_000_000)])),
  ]);

/** Declares a length beyond its end. */
export const lies = (): Uint8Array => concat([header, [1], leb(0xffff_ffff), [1, 0x60, 0, 0]]);

type Bytes = Uint8Array | readonly number[];
const header: Bytes = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

function leb(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) | 128);
  }
}

function concat(parts: readonly Bytes[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function repeated(bytes: Bytes, count: number): Uint8Array {
  const whole = new Uint8Array(bytes.length * count);
  for (let index = 0; index < count; index++) whole.set(bytes, index * bytes.length);
  return whole;
}

const sized = (body: Bytes): Uint8Array => concat([leb(body.length), body]);
const section = (id: number, body: Bytes): Uint8Array => concat([[id], sized(body)]);
const wasm = (sections: readonly Uint8Array[]): Uint8Array => concat([header, ...sections]);
const typeSection = (count: number): Uint8Array =>
  section(1, concat([leb(count), repeated([0x60, 0, 0], count)]));
const functionSection = (count: number): Uint8Array =>
  section(3, concat([leb(count), new Uint8Array(count)]));
const memorySection = section(5, [1, 0, 1]);
const name = (value: string): number[] => [value.length, ...Buffer.from(value)];
const exportSection = section(7, [2, ...name("memory"), 2, 0, ...name("_start"), 0, 0]);
const codeSection = (count: number, body: Bytes): Uint8Array =>
  section(10, concat([leb(count), repeated(body, count)]));
const deepBody = (depth: number): Uint8Array =>
  sized(concat([[0], repeated([0x02, 0x40], depth), repeated([0x0b], depth), [0x0b]]));
