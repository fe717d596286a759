import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { command, wat } from "../testing/wat.ts";
import { prepareBounds } from "./bounds.ts";
import { BinaryWriter } from "./binary.ts";
import { prepareModule } from "./prepare-module.ts";
import { treatmentOf } from "./preview1.ts";

const wasi = `"wasi_snapshot_preview1"`;
const start = `(func (export "_start"))`;
const memory = `(memory (export "memory") 1)`;

async function refused(text: string, code: string, words: RegExp, maxMemoryMb = 16): Promise<void> {
  const result = prepareModule(await wat(text), { maxMemoryMb });
  expect(result).toMatchObject({ ok: false, code });
  expect(result.ok ? "" : result.message).toMatch(words);
}

/** Runs a module with a test WASI, in which each function returns the errno from `answers`. */
function run(
  bytes: Uint8Array,
  answers: (name: string, parameters: unknown[]) => number = () => 0,
): DataView {
  const module = new WebAssembly.Module(bytes);
  const functions = Object.fromEntries(
    WebAssembly.Module.imports(module).map(({ name }) => [name, (...all: unknown[]) => answers(name, all)]),
  );
  const { exports } = new WebAssembly.Instance(module, { wasi_snapshot_preview1: functions });
  (exports["_start"] as () => void)();
  return new DataView((exports["memory"] as WebAssembly.Memory).buffer);
}

async function prepared(text: string, maxMemoryMb = 16): Promise<Uint8Array> {
  const result = prepareModule(await wat(text), { maxMemoryMb });
  if (!result.ok) throw new Error(result.message);
  return result.bytes;
}

describe("what is refused", () => {
  test.each<[string, string, string, RegExp]>([
    [
      "an import from elsewhere, by its name",
      `(module (import "env" "fetch" (func)) ${memory} ${start})`,
      "import",
      /"fetch" from "env"/,
    ],
    [
      "a function preview 1 does not have",
      `(module (import ${wasi} "fd_fly" (func)) ${memory} ${start})`,
      "import",
      /"fd_fly", which is not a function/,
    ],
    [
      "a wrong signature",
      `(module (import ${wasi} "fd_read" (func (param i32))) ${memory} ${start})`,
      "import",
      /fd_read as \(i32\) -> nothing; .* \(i32, i32, i32, i32\) -> i32/,
    ],
    [
      "an imported memory",
      `(module (import "env" "memory" (memory 1)) ${start})`,
      "import",
      /imports a memory \("env" "memory"\)/,
    ],
    [
      "an imported global",
      `(module (import ${wasi} "g" (global i32)) ${memory} ${start})`,
      "import",
      /imports a global/,
    ],
    ["no _start", `(module ${memory})`, "start", /no function "_start"/],
    [
      "a _start with a parameter",
      `(module ${memory} (func (export "_start") (param i32)))`,
      "start",
      /has parameters/,
    ],
    ["no memory", `(module ${start})`, "memory", /no memory/],
    ["a memory that is not exported", `(module (memory 1) ${start})`, "memory", /does not export its memory/],
    ["two memories", `(module ${memory} (memory 1) ${start})`, "memory", /2 memories/],
    ["a shared memory", `(module (memory (export "memory") 1 2 shared) ${start})`, "memory", /shared/],
    ["a 64-bit memory", `(module (memory (export "memory") i64 1) ${start})`, "memory", /memory64/],
    [
      "more memory at the start than allowed",
      `(module (memory (export "memory") 257) ${start})`,
      "memory",
      /16.0625 MB .* max_memory_mb is 16/,
    ],
    [
      "atomic instructions",
      `(module ${memory} (func (export "_start") (drop (i32.atomic.load (i32.const 0)))))`,
      "feature",
      /threads/,
    ],
    [
      "exceptions",
      `(module ${memory} (tag $t) (func (export "_start") (throw $t)))`,
      "feature",
      /exceptions/,
    ],
    [
      "too many tables",
      `(module ${memory} ${"(table 1 funcref)".repeat(5)} ${start})`,
      "tooLarge",
      /5 tables; at most 4 .*maxTables/,
    ],
    [
      "a table that is too large",
      `(module ${memory} (table 200001 funcref) ${start})`,
      "tooLarge",
      /maxTableElements/,
    ],
    [
      "data beyond the memory it starts with",
      `(module ${memory} (data (i32.const 65530) "1234567") ${start})`,
      "memory",
      /puts 7 bytes of data at 65530 into a memory that starts with 65536 bytes/,
    ],
    [
      "data at an address that is negative as a number",
      `(module ${memory} (data (i32.const -1) "1") ${start})`,
      "memory",
      /at 4294967295 into/,
    ],
  ])("%s", async (_name, text, code, words) => refused(text, code, words));

  test("data that just fits is accepted", async () => {
    const text = `(module ${memory} (data "passive, and of any length") (data (i32.const 65535) "1") ${start})`;
    expect(prepareModule(await wat(text), { maxMemoryMb: 16 })).toMatchObject({ ok: true });
  });

  test.each<[string, Uint8Array, RegExp]>([
    ["nothing at all", new Uint8Array(), /not valid WebAssembly/],
    ["text", new TextEncoder().encode("export default {}"), /not valid WebAssembly: .*magic/],
    [
      "a header and garbage",
      new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 200, 1]),
      /not valid WebAssembly/,
    ],
  ])("%s", (_name, bytes, words) => {
    const result = prepareModule(bytes, { maxMemoryMb: 16 });
    expect(result).toMatchObject({ ok: false, code: "malformed" });
    expect(result.ok ? "" : result.message).toMatch(words);
  });

  test("a module over the bound, without reading it", () => {
    const result = prepareModule(new Uint8Array(prepareBounds.maxModuleBytes + 1), { maxMemoryMb: 16 });
    expect(result).toMatchObject({ ok: false, code: "tooLarge" });
  });

  test("a million functions", () => {
    const count = 1_000_000;
    const module = new BinaryWriter(count * 5).raw(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]));
    module.byte(1).sized(new BinaryWriter().raw(new Uint8Array([1, 0x60, 0, 0])));
    const types = new BinaryWriter().u32(count);
    const bodies = new BinaryWriter().u32(count);
    for (let index = 0; index < count; index++) {
      types.u32(0);
      bodies.raw(new Uint8Array([2, 0, 0x0b]));
    }
    module.byte(3).sized(types).byte(10).sized(bodies);
    expect(prepareModule(module.view().slice(), { maxMemoryMb: 16 })).toMatchObject({
      ok: false,
      message: expect.stringMatching(/1000000 functions; at most 100000 .*maxFunctions/) as string,
    });
  });

  test.each([0, -1, 1.5, Number.NaN, 5000])("a memory maximum of %s", async (maxMemoryMb) => {
    expect(prepareModule(await wat(command("")), { maxMemoryMb })).toMatchObject({
      ok: false,
      code: "options",
    });
  });

  test("damaging a module gives a refusal or a safe module, never another error", async () => {
    const original = await wat(
      command(
        `(call $write (i32.const 1) (i32.const 0) (i32.const 1))`,
        `(table 2 funcref) (elem (i32.const 0) $read $write)`,
      ),
    );
    fc.assert(
      fc.property(fc.nat(original.length - 1), fc.nat(255), fc.boolean(), (at, byte, cuts) => {
        const damaged = cuts ? original.slice(0, at) : original.with(at, byte);
        const result = prepareModule(damaged, { maxMemoryMb: 16 });
        if (!result.ok) return result.code !== "internal" && result.message.length > 10;
        const exports = WebAssembly.Module.exports(new WebAssembly.Module(result.bytes));
        return exports.length === 2;
      }),
      { numRuns: 3000 },
    );
  });
});

describe("what is changed", () => {
  test("imports in any order and number are routed as the ABI says", async () => {
    const names =
      "args_get clock_time_get clock_res_get fd_read fd_write fd_close fd_prestat_get fd_prestat_dir_name path_open path_link sock_send poll_oneoff random_get sched_yield fd_readdir proc_raise fd_seek".split(
        " ",
      );
    const wide = { i: "i32", I: "i64" } as Record<string, string>;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...names), { maxLength: 20 }), async (imports) => {
        const signature = (name: string): string => {
          const treatment = treatmentOf(name);
          return treatment.kind === "unknown" ? "" : (treatment.signature.split(":")[0] ?? "");
        };
        // Calls each import directly, and once more through a table.
        const text = `(module
          ${imports.map((name, index) => `(import ${wasi} "${name}" (func $f${index} (param ${Array.from(signature(name), (letter) => wide[letter]).join(" ")}) (result i32)))`).join("\n")}
          ${memory} (table ${imports.length + 1} funcref) (elem (i32.const 0) ${imports.map((_, index) => `$f${index}`).join(" ")})
          (func $own (param i32) (result i32) (i32.add (local.get 0) (i32.const 5000)))
          (func (export "_start")
            ${imports
              .map((name, index) => {
                const zeros = Array.from(signature(name), (letter) => `(${wide[letter]}.const 0)`).join(" ");
                const type = `(param ${Array.from(signature(name), (letter) => wide[letter]).join(" ")}) (result i32)`;
                return `(i32.store (i32.const ${index * 8}) (call $f${index} ${zeros}))
                  (i32.store (i32.const ${index * 8 + 4}) (call_indirect ${type} ${zeros} (i32.const ${index})))`;
              })
              .join("\n")}
            (i32.store (i32.const ${imports.length * 8}) (call $own (i32.const 7)))))`;
        const view = run(await prepared(text), (name) => 1000 + names.indexOf(name));
        for (const [index, name] of imports.entries()) {
          const treatment = treatmentOf(name);
          const expected = treatment.kind === "refusing" ? treatment.errno : 1000 + names.indexOf(name);
          expect([name, view.getInt32(index * 8, true), view.getInt32(index * 8 + 4, true)]).toEqual([
            name,
            expected,
            expected,
          ]);
        }
        expect(view.getInt32(imports.length * 8, true)).toBe(5007);
      }),
      { numRuns: 60 },
    );
  });

  test("refusals return the ABI's errno: ENOTCAPABLE, and EBADF for the preopened folders", () => {
    expect(treatmentOf("path_open")).toMatchObject({ kind: "refusing", errno: 76 });
    expect(treatmentOf("fd_prestat_get")).toMatchObject({ kind: "refusing", errno: 8 });
    expect(treatmentOf("fd_prestat_dir_name")).toMatchObject({ kind: "refusing", errno: 8 });
    expect(treatmentOf("toString")).toEqual({ kind: "unknown" });
  });

  test("a descriptor other than 0, 1 and 2 does not leave the module", async () => {
    const calls: unknown[] = [];
    const text = command(`
      (i32.store (i32.const 100) (call $fd_write (i32.const 3) (i32.const 0) (i32.const 1) (i32.const 12)))
      (i32.store (i32.const 104) (call $fd_write (i32.const -1) (i32.const 0) (i32.const 1) (i32.const 12)))
      (i32.store (i32.const 108) (call $fd_write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 12)))`);
    const view = run(await prepared(text), (_name, [descriptor]) => {
      calls.push(descriptor);
      return 42;
    });
    expect([100, 104, 108].map((at) => view.getInt32(at, true))).toEqual([8, 8, 42]);
    expect(calls).toEqual([2]);
  });

  test.each<[string, number, number]>([
    ["no maximum: the one given", 16, 256],
    ["2 64", 16, 64],
    ["2 9000", 16, 256],
  ])(
    "memory %s is bounded for %i MB by %i pages, and growing beyond it returns -1",
    async (declared, maxMemoryMb, pages) => {
      const text = command(
        `(i32.store (i32.const 100) (memory.grow (i32.const ${pages - 2})))
       (i32.store (i32.const 104) (memory.grow (i32.const 1)))`,
        "",
        declared.startsWith("no") ? "2" : declared,
      );
      let yields = 0;
      const view = run(await prepared(text, maxMemoryMb), (name) => (name === "sched_yield" ? ++yields : 0));
      expect([view.getInt32(100, true), view.getInt32(104, true), view.byteLength]).toEqual([
        2,
        -1,
        pages * 65_536,
      ]);
      expect(yields, "each growth is told to the thread").toBe(2);
    },
  );

  test("a table cannot grow beyond its bound", async () => {
    const text = `(module ${memory} (table $t 1 funcref) (func (export "_start")
      (i32.store (i32.const 0) (table.grow $t (ref.null func) (i32.const ${prepareBounds.maxTableElements})))))`;
    expect(run(await prepared(text)).getInt32(0, true)).toBe(-1);
  });

  test("a start function runs at the beginning of _start", async () => {
    const text = `(module ${memory} (global $order (mut i32) (i32.const 0))
      (func $first (global.set $order (i32.add (i32.mul (global.get $order) (i32.const 10)) (i32.const 1))))
      (func (export "_start") (global.set $order (i32.add (i32.mul (global.get $order) (i32.const 10)) (i32.const 2)))
        (i32.store (i32.const 0) (global.get $order)))
      (start $first))`;
    expect(run(await prepared(text)).getInt32(0, true)).toBe(12);
  });

  test("referenced functions stay declared when the export that declared them is removed", async () => {
    const text = `(module ${memory} (table $t 1 funcref) (func $seven (export "seven") (result i32) (i32.const 7))
      (func (export "_initialize") (unreachable))
      (func (export "_start") (table.set $t (i32.const 0) (ref.func $seven))
        (i32.store (i32.const 0) (call_indirect $t (result i32) (i32.const 0)))))`;
    const bytes = await prepared(text);
    expect(run(bytes).getInt32(0, true)).toBe(7);
    expect(WebAssembly.Module.exports(new WebAssembly.Module(bytes)).map(({ name }) => name)).toEqual([
      "memory",
      "_start",
    ]);
  });

  test("instructions of every family are preserved: vectors, bulk memory, tail calls, branches, globals, segments", async () => {
    const text = `(module (import ${wasi} "path_open" (func (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
      (memory (export "memory") 1) (data $d "abcdefgh") (data (i32.const 200) "xyz")
      (global $f funcref (ref.func $two)) (global $n (mut i64) (i64.const -9000000000))
      (table $t 4 funcref) (elem $e funcref (ref.func $two) (ref.null func)) (elem (table $t) (i32.const 2) func $two $three)
      (func $two (result i32) (i32.const 2)) (func $three (result i32) (return_call $two))
      (func $pair (param i32) (result i32 i32) (local.get 0) (i32.add (local.get 0) (i32.const 1)))
      (func (export "_start") (local $v v128) (local f32 f64)
        (memory.init $d (i32.const 16) (i32.const 0) (i32.const 8)) (data.drop $d)
        (memory.copy (i32.const 32) (i32.const 16) (i32.const 4)) (memory.fill (i32.const 40) (i32.const 1) (i32.const 4))
        (table.init $t $e (i32.const 0) (i32.const 0) (i32.const 2)) (elem.drop $e)
        (local.set $v (i8x16.shuffle 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0 (v128.load (i32.const 16)) (v128.const i32x4 1 2 3 4)))
        (v128.store (i32.const 48) (v128.load8_lane 3 (i32.const 16) (local.get $v)))
        (i32.store (i32.const 0) (call_indirect $t (result i32) (i32.const 3)))
        (i32.store (i32.const 4) (i32.trunc_sat_f64_s (f64.const 3.9)))
        (i32.store (i32.const 8) (block $b (result i32) (br_table $b $b (i32.const 11) (i32.const 0))))
        (i32.store (i32.const 12) (i32.add (call $pair (i32.const 20))))
        (i32.store8 (i32.const 64) (select (result i32) (i32.const 5) (i32.const 6) (ref.is_null (table.get $t (i32.const 1)))))
        (i32.store (i32.const 68) (i32.extend8_s (i32.const 255)))
        (i64.store (i32.const 72) (global.get $n)) (f32.store (i32.const 80) (f32.const 1.5))))`;
    const original = run(await wat(text).then((bytes) => bytes));
    const rewritten = run(await prepared(text));
    const bytesOf = (view: DataView): number[] => [...new Uint8Array(view.buffer, 0, 256)];
    expect(bytesOf(rewritten)).toEqual(bytesOf(original));
    expect([rewritten.getInt32(0, true), rewritten.getInt32(12, true)]).toEqual([2, 41]);
  });
});
