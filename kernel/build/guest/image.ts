/**
 * Runs the linked module up to the moment before it reads its program, and writes the content of its memory into
 * the module: a guest then starts with QuickJS initialised and the runtime evaluated.
 */
import {
  bodyOf,
  globalsStartingAt,
  imageOf,
  keepExports,
  memoryOf,
  readExports,
  readSections,
  withBodies,
  writeSections,
} from "./binary.ts";
import { section } from "../../src/sandbox/prepare/sections.ts";
import type { PlacedLibrary } from "./libraries.ts";

/** The name of a program in QuickJS's stack traces. */
const programName = "agent.js";
/**
 * How deep JavaScript may recurse before it is a RangeError: about 1,000 plain calls. QuickJS counts only its
 * own stack in linear memory; this much of it was seen to stay clear of the end of the 4 MiB native stack
 * that a worker thread has, for every way to recurse that was tried. At 320 KiB the first of them trapped.
 */
const stackBytes = 240 * 1024;

type Exports = Record<string, (...args: number[]) => number> & { memory: WebAssembly.Memory };
/** Globals of the shim that the image sets to the created objects. */
const shimGlobals = ["shim_turn", "shim_nothing", "shim_kinds", "shim_filename", "shim_scratch"] as const;

/** The exports of a guest; all others are only for building the image. */
const guestExports: ReadonlySet<string> = new Set(["memory", "_start"]);
/** The required exports of the module that an image is written into. */
export const imageExports: ReadonlySet<string> = new Set([...guestExports, ...shimGlobals]);

export interface Linked {
  /** Includes everything that starts QuickJS. */
  readonly whole: Uint8Array;
  /** The same without its data and without what only the start needs. Memory and table have the same layout. */
  readonly pruned: Uint8Array;
  readonly libraries: readonly PlacedLibrary[];
}

export function makeImage(linked: Linked, runtimeSource: string): Uint8Array {
  let memory: WebAssembly.Memory | undefined;
  const buffer = (): ArrayBufferLike => (memory as WebAssembly.Memory).buffer;
  const refuse = (name: string) => () => {
    throw new Error(`${name} was called while the image was being made.`);
  };
  const wasi: Record<string, (...args: never[]) => number> = {
    // A constant clock makes the image the same on every machine.
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
    // libc requests a stack canary. The runtime takes its own randomness when the guest runs.
    random_get: (at: number, size: number) => {
      new Uint8Array(buffer(), at, size).fill(0);
      return 0;
    },
    proc_exit: refuse("proc_exit"),
  };
  const module = new WebAssembly.Module(new Uint8Array(linked.whole));
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasi });
  const exports = instance.exports as unknown as Exports;
  memory = exports.memory;
  const globals = initialise(exports, linked, runtimeSource);
  return writeImage(linked.pruned, new Uint8Array(buffer()), globals);
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
      throw new Error(`${name} is not at the address that it was linked for.`);
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
  pruned: Uint8Array,
  memory: Uint8Array,
  globals: ReadonlyMap<string, number>,
): Uint8Array {
  const sections = readSections(pruned);
  const exports = bodyOf(sections, section.export);
  const values = new Map<number, number>();
  for (const { name, index } of readExports(exports)) {
    const value = globals.get(name);
    if (value !== undefined) values.set(index, value);
  }
  if (values.size !== globals.size)
    throw new Error("The pruned module does not export all globals of the shim.");
  return writeSections(
    withBodies(sections, {
      [section.memory]: memoryOf(memory.length / 65536),
      [section.global]: globalsStartingAt(bodyOf(sections, section.global), values),
      [section.export]: keepExports(exports, guestExports),
      [section.data]: imageOf(memory),
    }),
  );
}
