import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, expect } from "vitest";
import { prepareBounds } from "../../kernel/src/sandbox/prepare/bounds.ts";
import { prepareModule } from "../../kernel/src/sandbox/prepare/prepare-module.ts";
import { treatmentOf, wasiModule } from "../../kernel/src/sandbox/prepare/preview1.ts";
import {
  firstReading,
  instructions,
  moduleOf,
  promiseBroken,
  secondReader,
} from "../../kernel/src/sandbox/testing/second-reader.ts";
import { command, echo, flooding, printing, spinOnInput, wat } from "../../kernel/src/sandbox/testing/wat.ts";
import { fuzz } from "./support/campaign.ts";
import { mutated, mutations } from "./support/mutate-module.ts";

const target = "modules";
const maxMemoryMb = 16;

/** Valid modules with some of everything, so that damage to one instruction or section gives new results each time. */
const texts = [
  echo,
  spinOnInput,
  printing(1, "hello"),
  flooding(2, "\n", 3),
  command(
    `(drop (memory.grow (i32.const 1))) (call_indirect (type 0) (i32.const 0)) (global.set $g (ref.func $later))`,
    `(table $t 4 8 funcref) (table $x 1 externref) (elem (i32.const 0) $later $later) (elem declare func $read)
     (elem (table $t) (i32.const 1) funcref (ref.func $later) (ref.null func))
     (global $g (mut funcref) (ref.null func)) (global $n (mut i64) (i64.const -5))
     (func $first) (start $first) (data "passive") (data (i32.const 9) "active") (export "more" (func $later))
     (func $later (local v128 f64) (block (loop (br_if 1 (i32.const 1)) (br_table 0 1 (i32.const 0))))
       (local.set 0 (v128.const i32x4 1 2 3 4)) (local.set 0 (i8x16.shuffle 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 (local.get 0) (local.get 0)))
       (memory.init 0 (i32.const 0) (i32.const 0) (i32.const 1)) (data.drop 0) (table.init $t 1 (i32.const 0) (i32.const 0) (i32.const 0))
       (drop (table.grow $t (ref.null func) (i32.const 1))) (drop (select (result funcref) (ref.null func) (ref.func $later) (i32.const 1)))
       (memory.copy (i32.const 0) (i32.const 0) (i32.const 0)) (return_call $later))`,
    "1 4",
  ).replace("(type 0)", "(param) (result)"),
];

let modules: Uint8Array[] = [];
let secondReading: Awaited<ReturnType<typeof secondReader>>;
beforeAll(async () => {
  secondReading = await secondReader();
  modules = await Promise.all(texts.map(wat));
  const guest = join(import.meta.dirname, "../../kernel/build-output/guest.wasm");
  modules.push(new Uint8Array(readFileSync(guest)));
  for (const bytes of modules) expect(prepareModule(bytes, { maxMemoryMb })).toMatchObject({ ok: true });
});

/** Checks everything that may run, by the engine's and the binary's reading. */
function checkAccepted(result: { readonly bytes: Uint8Array; readonly maxPages: number }): void {
  expect(WebAssembly.validate(result.bytes)).toBe(true);
  const module = new WebAssembly.Module(result.bytes);
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
    expect([from, kind]).toEqual([wasiModule, "function"]);
    expect(["kept", "guarded"]).toContain(treatmentOf(name).kind);
  }
  const exports = WebAssembly.Module.exports(module).map(({ kind, name }) => `${kind} ${name}`);
  expect(exports).toEqual(["memory memory", "function _start"]);
  for (const name of ["name", "producers", "target_features"])
    expect(WebAssembly.Module.customSections(module, name)).toEqual([]);
  const sections = sectionsOf(result.bytes);
  expect(sections.has(8), "a start section would run before anybody watches").toBe(false);
  expect(sections.has(0)).toBe(false);
  const memory = sections.get(5) ?? [];
  expect(memory.slice(0, 2), "one memory, with a maximum").toEqual([1, 1]);
  expect(result.maxPages).toBeLessThanOrEqual(maxMemoryMb * 16);
}

function sectionsOf(bytes: Uint8Array): Map<number, number[]> {
  const sections = new Map<number, number[]>();
  for (let at = 8; at < bytes.length;) {
    const id = bytes[at++] ?? 0;
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      length |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    sections.set(id, [...bytes.subarray(at, at + Math.min(length, 16))]);
    at += length;
  }
  return sections;
}

fuzz({
  target,
  property: "a damaged module is refused in a sentence or safe, never anything else",
  arbitrary: fc.record({ module: fc.nat(texts.length - 1), mutations }),
  runs: 6000,
  check: ({ module, mutations }) => checkMutated(module, mutations),
});

fuzz({
  target,
  property: "a damaged TypeScript guest is refused in a sentence or safe",
  arbitrary: fc.record({ module: fc.constant(texts.length), mutations }),
  runs: 25,
  check: ({ module, mutations }) => checkMutated(module, mutations),
});

fuzz({
  target,
  property: "a second reader accepts what is accepted, and sees the same calls",
  arbitrary: fc.oneof(
    fc.record({ code: instructions }),
    fc.record({ code: instructions, mutations }),
    fc.record({ module: fc.nat(texts.length - 1), mutations }),
  ),
  runs: 6000,
  check: (value) => {
    const original = "code" in value ? moduleOf(value.code) : (modules[value.module] ?? new Uint8Array());
    const bytes = "mutations" in value ? mutated(original, value.mutations) : original;
    const result = prepareModule(bytes, { maxMemoryMb });
    if (!result.ok) return;
    expect(firstReading(bytes)).toEqual(secondReading(bytes));
    const prepared = secondReading(result.bytes);
    expect(prepared === null ? "unreadable" : promiseBroken(prepared)).toBeNull();
  },
});

function checkMutated(index: number, changes: Parameters<typeof mutated>[1]): void {
  const bytes = mutated(modules[index] ?? new Uint8Array(), changes);
  const isValid = WebAssembly.validate(new Uint8Array(bytes));
  const result = prepareModule(bytes, { maxMemoryMb });
  if (result.ok) {
    expect(isValid).toBe(true);
    checkAccepted(result);
    // A prepared module is an ordinary command and can be prepared again.
    const again = prepareModule(result.bytes, { maxMemoryMb });
    expect(again).toMatchObject({ ok: true, maxPages: result.maxPages });
  } else {
    expect(result.message).toMatch(/^[A-Z].{10,500}$/s);
    expect(result.message).not.toMatch(/[\u0000-\u0008\u001b\u202a-\u202e]/);
    expect(result.code, result.message).not.toBe("internal");
    expect(result.code === "malformed", result.message).toBe(!isValid);
  }
}

fuzz({
  target,
  property: "arbitrary bytes behind a module's magic number are refused in a sentence or safe",
  arbitrary: fc.record({
    sections: fc.array(fc.record({ id: fc.nat(14), content: fc.uint8Array({ maxLength: 24 }) }), {
      maxLength: 8,
    }),
    tail: fc.uint8Array({ maxLength: 8 }),
  }),
  runs: 6000,
  check: ({ sections, tail }) => {
    const bytes = Uint8Array.from([
      0x00,
      0x61,
      0x73,
      0x6d,
      1,
      0,
      0,
      0,
      ...sections.flatMap(({ id, content }) => [id, content.length, ...content]),
      ...tail,
    ]);
    const result = prepareModule(bytes, { maxMemoryMb });
    expect(bytes.length).toBeLessThan(prepareBounds.maxModuleBytes);
    if (result.ok) checkAccepted(result);
    else expect(result.code, result.message).not.toBe("internal");
  },
});
