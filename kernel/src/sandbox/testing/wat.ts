import wabtModule from "wabt";

/** Assembles a module from WebAssembly text. All proposals are enabled, for tests of modules that are refused. */
export async function wat(text: string): Promise<Uint8Array> {
  const wabt = await wabtModule();
  const features = {
    bulk_memory: true,
    exceptions: true,
    memory64: true,
    multi_memory: true,
    multi_value: true,
    mutable_globals: true,
    reference_types: true,
    sat_float_to_int: true,
    sign_extension: true,
    simd: true,
    tail_call: true,
    threads: true,
  };
  const module = wabt.parseWat("module.wat", text, features);
  try {
    return new Uint8Array(module.toBinary({}).buffer);
  } finally {
    module.destroy();
  }
}

const wasi = `"wasi_snapshot_preview1"`;

/** Returns the text of a WASI command with `_start` as `body`, `$read`, `$write`, and 64 KiB at 1024 for data. */
export function command(body: string, more = "", memory = "2"): string {
  return `(module
    (import ${wasi} "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
    (import ${wasi} "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
    (import ${wasi} "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
    (memory (export "memory") ${memory})
    (func $read (result i32)
      (i32.store (i32.const 0) (i32.const 1024)) (i32.store (i32.const 4) (i32.const 65536))
      (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
      (i32.load (i32.const 8)))
    (func $write (param $fd i32) (param $at i32) (param $length i32)
      (i32.store (i32.const 0) (local.get $at)) (i32.store (i32.const 4) (local.get $length))
      (drop (call $fd_write (local.get $fd) (i32.const 0) (i32.const 1) (i32.const 12))))
    ${more}
    (func (export "_start") (local $n i32) ${body}))`;
}

/** Echoes every line. */
export const echo = command(`
  (loop $again
    (local.set $n (call $read))
    (if (i32.eqz (local.get $n)) (then (return)))
    (call $write (i32.const 1) (i32.const 1024) (local.get $n))
    (br $again))`);

/** Reads everything and never answers. */
export const silent = command(`(loop $again (br_if $again (call $read)))`);

/** Reads once, then computes forever. */
export const spinOnInput = command(`(drop (call $read)) (loop $again (br $again))`);

/** Prints `text` (at most 4000 bytes) to a descriptor, then executes `rest`. */
export function printing(descriptor: number, text: string, rest = ""): string {
  const bytes = [...new TextEncoder().encode(text)];
  const data = bytes.map((byte) => `\\${byte.toString(16).padStart(2, "0")}`).join("");
  return command(
    `(call $write (i32.const ${descriptor}) (i32.const 70000) (i32.const ${bytes.length})) ${rest}`,
    `(data (i32.const 70000) "${data}")`,
  );
}

/** Prints pieces of 64 KiB to a descriptor. Each ends with `last`: "\n" for whole lines, "x" for an endless line. */
export function flooding(descriptor: number, last: "\n" | "x", pieces: number): string {
  return command(`
    (memory.fill (i32.const 1024) (i32.const 0x78) (i32.const 65535))
    (i32.store8 (i32.const 66559) (i32.const ${last.charCodeAt(0)}))
    (loop $again
      (call $write (i32.const ${descriptor}) (i32.const 1024) (i32.const 65536))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $n) (i32.const ${pieces}))))
    (loop $stay (br_if $stay (call $read)))`);
}
