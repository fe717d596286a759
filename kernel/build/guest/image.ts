/**
 * Runs the linked module up to the moment before it meets its program, and writes what its memory then
 * holds into the module: a guest starts with QuickJS initialised and the runtime evaluated.
 */
import binaryen from "binaryen";
import { imageOf, memoryOf, readSections, sectionIds, withBodies, writeSections } from "./binary.ts";
import type { Linked } from "./link.ts";

/** The name a program has in QuickJS's stack traces. */
const programName = "agent.js";
/**
 * How deep JavaScript may recurse before it is a RangeError: about 1,000 plain calls. QuickJS counts only its
 * own stack in linear memory; this much of it was seen to stay clear of the end of the 4 MiB native stack
 * that a worker thread has, for every way to recurse that was tried. At 320 KiB the first of them trapped.
 */
const stackBytes = 240 * 1024;

type Exports = Record<string, (...args: number[]) => number> & { memory: WebAssembly.Memory };
const shimGlobals = ["shim_turn", "shim_nothing", "shim_kinds", "shim_filename", "shim_scratch"] as const;

export function makeImage(linked: Linked, runtimeSource: string): Uint8Array {
  let memory: WebAssembly.Memory | undefined;
  const buffer = (): ArrayBufferLike => (memory as WebAssembly.Memory).buffer;
  const refuse = (name: string) => () => {
    throw new Error(`${name} was called while the image was being made.`);
  };
  const wasi: Record<string, (...args: never[]) => number> = {
    // The same image on every machine: time stands still.
    clock_time_get: (_id: number, _precision: bigint, at: number) => {
      new DataView(buffer()).setBigUint64(at, 0n, true);
      return 0;
    },
    fd_write: refuse("fd_write"),
    fd_read: refuse("fd_read"),
    fd_close: refuse("fd_close"),
    fd_seek: refuse("fd_seek"),
    fd_fdstat_get: refuse("fd_fdstat_get"),
    poll_oneoff: refuse("poll_oneoff"),
    // libc asks for a stack canary. The runtime takes its own randomness when the guest runs.
    random_get: (at: number, size: number) => {
      new Uint8Array(buffer(), at, size).fill(0);
      return 0;
    },
    proc_exit: refuse("proc_exit"),
  };
  const module = new WebAssembly.Module(linked.module);
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasi });
  const exports = instance.exports as unknown as Exports;
  memory = exports.memory;
  const globals = initialise(exports, linked, runtimeSource);
  return writeImage(linked.module, new Uint8Array(buffer()), globals);
}

function initialise(exports: Exports, linked: Linked, runtimeSource: string): Map<string, number> {
  const run = (name: string, ...args: number[]): number => {
    const f = exports[name];
    if (f === undefined) throw new Error(`The linked module does not export ${name}.`);
    return f(...args);
  };
  const bytes = (): Uint8Array => new Uint8Array(exports.memory.buffer);
  const allocate = (content: Uint8Array): number => {
    const at = run("malloc", content.length + 1);
    bytes().set(content, at);
    bytes()[at + content.length] = 0;
    return at;
  };
  const cstring = (text: string): number => allocate(new TextEncoder().encode(text));

  run("_initialize");
  for (const { name, memoryBase, memoryBytes, data } of linked.libraries) {
    if (run("malloc", memoryBytes) !== memoryBase)
      throw new Error(`${name} would not lie where it was linked to.`);
    bytes()
      .fill(0, memoryBase, memoryBase + memoryBytes)
      .set(data, memoryBase);
  }
  for (const { name } of linked.libraries) run(`${name}:__wasm_apply_data_relocs`);
  if (run("qjs_init") !== 0) throw new Error("QuickJS could not be initialised.");
  run("qjs_set_max_stack_size", stackBytes);
  run("qjs_set_promise_rejection_handler", 1);
  run("qjs_set_module_loader", 1);
  for (const { name } of linked.libraries) {
    const failed = run(
      `${name}:qjs_ext_${name}_init`,
      run("qjs_get_context_ptr"),
      run("qjs_get_runtime_ptr"),
    );
    if (failed !== 0) throw new Error(`The library ${name} could not be initialised.`);
  }

  const checked = (value: number, what: string): number => {
    if (run("qjs_is_exception", value) === 0) return value;
    const length = run("malloc", 4);
    const at = run("qjs_get_string_len", run("qjs_get_exception"), length);
    const size = new DataView(exports.memory.buffer).getUint32(length, true);
    throw new Error(`${what}: ${new TextDecoder().decode(bytes().slice(at, at + size))}`);
  };
  const native = run("qjs_new_object");
  for (const name of ["write", "random", "now", "depth", "vectors", "exit"]) {
    const at = cstring(name);
    run("qjs_set_prop_string", native, at, run("qjs_new_host_function", at, name.length, 0));
  }
  const source = new TextEncoder().encode(runtimeSource);
  const sourceAt = allocate(source);
  const makeTurn = checked(
    run("qjs_eval", sourceAt, source.length, cstring("lares:runtime"), 0),
    "The runtime threw",
  );
  run("free", sourceAt);
  const list = (items: number[]): number => allocate(new Uint8Array(Uint32Array.from(items).buffer));
  const nothing = run("qjs_get_undefined");
  const turn = checked(
    run("qjs_call", makeTurn, nothing, 1, list([native])),
    "The runtime could not be set up",
  );
  const kinds = list([0, 1, 2, 3, 4, 5, 6, 7].map((kind) => run("qjs_new_number", kind)));
  const scratch = run("calloc", 512, 1);
  const filename = cstring(programName);
  run("qjs_run_gc");
  return new Map(
    Object.entries({
      shim_turn: turn,
      shim_nothing: nothing,
      shim_kinds: kinds,
      shim_filename: filename,
      shim_scratch: scratch,
    } satisfies Record<(typeof shimGlobals)[number], number>),
  );
}

function writeImage(
  linked: Uint8Array,
  memory: Uint8Array,
  globals: ReadonlyMap<string, number>,
): Uint8Array {
  const module = binaryen.readBinary(linked);
  try {
    const { MutableGlobals, NontrappingFPToInt, SignExt, BulkMemory, ReferenceTypes, Multivalue } =
      binaryen.Features;
    module.setFeatures(
      MutableGlobals | NontrappingFPToInt | SignExt | BulkMemory | ReferenceTypes | Multivalue,
    );
    const names: string[] = [];
    for (let i = 0; i < module.getNumExports(); i++) {
      const { name, value } = binaryen.getExportInfo(module.getExportByIndex(i));
      names.push(name);
      const constant = globals.get(name);
      if (constant === undefined) continue;
      module.removeGlobal(value);
      module.addGlobal(value, binaryen.i32, false, module.i32.const(constant));
    }
    for (const name of names) if (name !== "memory" && name !== "_start") module.removeExport(name);
    module.runPasses([
      "remove-unused-module-elements",
      "simplify-globals",
      "duplicate-import-elimination",
      "remove-unused-module-elements",
      "vacuum",
    ]);
    const sections = readSections(module.emitBinary()).filter(({ id }) => id !== sectionIds.dataCount);
    return writeSections(
      withBodies(sections, {
        [sectionIds.memory]: memoryOf(memory.length / 65536),
        [sectionIds.data]: imageOf(memory),
      }),
    );
  } finally {
    module.dispose();
  }
}
