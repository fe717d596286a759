/** The module itself, as authors in other languages meet it. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maxHnswBytes } from "../../../../kernel/build/hnsw.ts";
import { clustered } from "./testing/samples.ts";

type Hnsw = Record<string, (...numbers: number[]) => number> & { memory: WebAssembly.Memory };

const fileOf = (name: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(readFileSync(createRequire(import.meta.url).resolve(`@lares/sdk/${name}`)));
const standalone = new WebAssembly.Module(fileOf("hnsw.wasm"));
const linkable = new WebAssembly.Module(fileOf("hnsw-linkable.wasm"));
const exportsOf = (module: WebAssembly.Module): string[] =>
  WebAssembly.Module.exports(module)
    .map(({ name }) => name)
    .toSorted();

const dimensions = 8;
const refusal = { badArgument: -1, isFull: -2, badVector: -3, malformed: -4 };

function start(): Hnsw {
  return new WebAssembly.Instance(standalone).exports as unknown as Hnsw;
}
function call(hnsw: Hnsw, name: string, ...numbers: number[]): number {
  return hnsw[`hnsw_${name}`]?.(...numbers) ?? Number.NaN;
}

/** A set of the given vectors in a module of its own, with the address and the size of its block. */
function made(vectors: readonly Float32Array[], m = 4): { hnsw: Hnsw; set: number; bytes: number } {
  const hnsw = start();
  const bytes = call(hnsw, "bytes", dimensions, vectors.length + 1, m);
  const set = call(hnsw, "reserve", bytes);
  expect(call(hnsw, "create", set, bytes, dimensions, vectors.length + 1, m, 20)).toBe(0);
  vectors.forEach((vector, label) => expect(add(hnsw, set, label, vector)).toBe(0));
  return { hnsw, set, bytes };
}
function add(hnsw: Hnsw, set: number, label: number, vector: Float32Array): number {
  const at = call(hnsw, "input", set);
  new Float32Array(hnsw.memory.buffer, at, vector.length).set(vector);
  return call(hnsw, "add", set, label, at);
}
function saved({ hnsw, set }: { hnsw: Hnsw; set: number }): Uint8Array {
  const bytes = call(hnsw, "saved_bytes", set);
  const at = call(hnsw, "reserve", bytes);
  expect(call(hnsw, "save", set, at, bytes)).toBe(bytes);
  return new Uint8Array(hnsw.memory.buffer, at, bytes).slice();
}

describe("the modules", () => {
  it("are each smaller than 8 KiB, import nothing but a memory to work in, and offer the same", () => {
    expect(maxHnswBytes).toBe(8192);
    for (const name of ["hnsw.wasm", "hnsw-linkable.wasm"]) expect(fileOf(name).length).toBeLessThan(8192);
    expect(WebAssembly.Module.imports(standalone)).toEqual([]);
    expect(WebAssembly.Module.imports(linkable)).toEqual([{ module: "env", name: "memory", kind: "memory" }]);
    expect(exportsOf(standalone)).toEqual([...exportsOf(linkable), "hnsw_reserve", "memory"].toSorted());
  });

  it("are described for C as they are", () => {
    const header = readFileSync(new URL("../../hnsw/hnsw.h", import.meta.url), "utf8");
    const declared = [...header.matchAll(/^HNSW\((\w+)\)/gm)].map(([, name = ""]) => name);
    expect(declared.toSorted()).toEqual(exportsOf(linkable));
  });

  it("the memory of the standalone one grows to 1 GiB and says 0 beyond", () => {
    const hnsw = start();
    expect(call(hnsw, "reserve", 2 ** 30)).toBe(0);
    expect(call(hnsw, "reserve", 0xffffffff)).toBe(0);
    expect(call(hnsw, "reserve", 1)).toBe(65_536);
  });
});

it("reports what it refuses, and then changes nothing", () => {
  const vectors = clustered(3, dimensions, 1, 1);
  const { hnsw, set, bytes } = made(vectors);
  const [vector = new Float32Array()] = vectors;
  expect(call(hnsw, "bytes", 0, 1, 4)).toBe(0);
  expect(call(hnsw, "bytes", 4096, 2 ** 20, 64)).toBe(0);
  expect(call(hnsw, "bytes", 0xffffffff, 1, 4)).toBe(0);
  const other = call(hnsw, "reserve", bytes);
  expect(call(hnsw, "create", other, bytes - 1, dimensions, 4, 4, 20)).toBe(refusal.badArgument);
  expect(call(hnsw, "create", other, bytes, dimensions, 4, 4, 1001)).toBe(refusal.badArgument);
  // There is no set at `other` now.
  for (const name of ["size", "capacity", "dimensions", "saved_bytes"])
    expect(call(hnsw, name, other)).toBe(refusal.badArgument);
  expect(call(hnsw, "add", other, 1, set)).toBe(refusal.badArgument);
  expect(call(hnsw, "search", other, set, 1, 1)).toBe(refusal.badArgument);
  expect(add(hnsw, set, 9, vector)).toBe(0);
  expect(add(hnsw, set, 10, vector)).toBe(refusal.isFull);
  expect(add(hnsw, set, 9, vector)).toBe(1);
  expect(add(hnsw, set, 9, new Float32Array(dimensions))).toBe(refusal.badVector);
  expect(call(hnsw, "search", set, call(hnsw, "input", set), 1, 1)).toBe(refusal.badVector);
  expect(call(hnsw, "save", set, other, 3)).toBe(refusal.badArgument);
  expect(call(hnsw, "resize", set, other, bytes, 3)).toBe(refusal.badArgument);
  expect([call(hnsw, "has", set, 9), call(hnsw, "size", set)]).toEqual([1, 4]);
});

describe("bytes that are not a set", () => {
  const magic = 0x3156534c;
  const original = saved(made(clustered(40, dimensions, 3, 2)));
  const sealed = (bytes: Uint8Array): Uint8Array => {
    const words = new Uint32Array(bytes.buffer, 0, bytes.length >> 2);
    let sum = 0x811c9dc5;
    for (const word of words.subarray(2)) sum = Math.imul(sum ^ word, 0x01000193);
    words[1] = sum;
    return bytes;
  };

  /** Loads it between two guard areas, uses the result, and checks the guard areas. */
  function check(bytes: Uint8Array): "refused" | "loaded" {
    const hnsw = start();
    const wall = 65_536;
    const from = call(hnsw, "reserve", Math.max(1, bytes.length));
    new Uint8Array(hnsw.memory.buffer, from).set(bytes);
    const needed = call(hnsw, "load_bytes", from, bytes.length, 1);
    if (needed < 0) {
      expect(needed).toBe(refusal.malformed);
      return "refused";
    }
    if (needed > 2 ** 24) return "refused";
    // Whole pages: the block ends where the guard area begins.
    const set = call(hnsw, "reserve", wall + needed + wall) + wall + ((4 - (needed % 4)) % 4);
    const walls = (): Uint8Array[] => [
      new Uint8Array(hnsw.memory.buffer, from + bytes.length, set - from - bytes.length),
      new Uint8Array(hnsw.memory.buffer, set + needed),
    ];
    for (const one of walls()) one.fill(0xa5);
    const before = walls().map((one) => one.slice());
    const status = call(hnsw, "load", set, needed, from, bytes.length, 1);
    if (status === 0) {
      for (let step = 0; step < 12; step++) {
        const [vector = new Float32Array()] = clustered(1, call(hnsw, "dimensions", set), 1, step);
        add(hnsw, set, step * 5, vector);
        call(hnsw, "search", set, call(hnsw, "input", set), 10, step === 0 ? 1 : 10);
        call(hnsw, "remove", set, step * 3);
      }
    }
    walls().forEach((one, index) => expect(Buffer.from(one).equals(before[index] ?? one)).toBe(true));
    if (status !== 0) expect(call(hnsw, "size", set)).toBe(refusal.badArgument);
    return status === 0 ? "loaded" : "refused";
  }

  it("the whole ones load", () => {
    expect(check(original)).toBe("loaded");
    expect(check(saved(made([])))).toBe("loaded");
  });

  it("any single changed bit, any missing end, and anything behind it is refused", () => {
    for (let bit = 0; bit < original.length * 8; bit += 5) {
      const bytes = original.slice();
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(check(bytes)).toBe("refused");
    }
    for (let length = 0; length < original.length; length += 7)
      expect(check(original.slice(0, length))).toBe("refused");
    expect(check(Uint8Array.from([...original, 0, 0, 0, 0]))).toBe("refused");
  });

  it("with words exchanged and the checksum made right, never leads out of its block or runs for ever", () => {
    const words = original.length / 4;
    const value = fc.oneof(
      fc.integer({ min: 0, max: 60 }),
      fc.constantFrom(0x80000000, 0xffffffff, 0x7fffffff, 0x7fc00000, 0x3f800000),
      fc.integer({ min: 0, max: 0xffffffff }),
    );
    const outcomes = new Set<string>();
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 3, max: words - 1 }), value), { minLength: 1, maxLength: 4 }),
        (changes) => {
          const bytes = original.slice();
          for (const [word, to] of changes) new DataView(bytes.buffer).setUint32(word * 4, to, true);
          outcomes.add(check(sealed(bytes)));
        },
      ),
      { numRuns: 1_000 },
    );
    // A link to another slot that exists is no worse than a bad search.
    expect([...outcomes].toSorted()).toEqual(["loaded", "refused"]);
  });

  it("made of anything behind a right head is refused or harmless", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 7, maxLength: 60 }), (numbers) => {
        const bytes = new Uint8Array(Uint32Array.from([magic, 0, 0, ...numbers]).buffer);
        new DataView(bytes.buffer).setUint32(8, bytes.length, true);
        check(sealed(bytes));
      }),
      { numRuns: 1_000 },
    );
  });
});
