/**
 * All instructions that an agent's module may use, with their immediates: WebAssembly 2.0 (SIMD included), tail
 * calls, and relaxed SIMD. The numbers are those of the core specification 3.0, section 5.4. An opcode that is
 * missing here is refused. The reader never guesses the length of an instruction: after a wrong guess it would no
 * longer see what the engine executes.
 */

/** The immediates of an opcode. Each name stands for one exact encoding; see `readImmediates`. */
type Immediates =
  | "none"
  | "block" // a block type
  | "end"
  | "else"
  | "call" // a function index, that of a call
  | "function" // a function index, that of a reference
  | "index" // one u32: a label, local, global, table, data or element segment
  | "twoIndices" // two of them: an element segment and a table, two tables, a type and a table
  | "branchTable"
  | "selectTypes"
  | "heapType"
  | "memory" // a memory index, which can only be 0
  | "twoMemories"
  | "dataAndMemory"
  | "i32"
  | "i64"
  | "f32"
  | "f64"
  | "v128"
  | "shuffle"
  | "lane" // a lane index below `limit`
  | "memoryArgument" // an alignment of at most 2^`limit`, and an offset
  | "memoryArgumentAndLane"; // the same, and a lane index of a vector of 16 bytes

export interface Instruction {
  readonly immediates: Immediates;
  readonly limit: number;
}

type Row = readonly [first: number, last: number, immediates: Immediates, limit?: number];

const plain: readonly Row[] = [
  [0x00, 0x01, "none"], // unreachable, nop
  [0x02, 0x04, "block"], // block, loop, if
  [0x05, 0x05, "else"],
  [0x0b, 0x0b, "end"],
  [0x0c, 0x0d, "index"], // br, br_if
  [0x0e, 0x0e, "branchTable"],
  [0x0f, 0x0f, "none"], // return
  [0x10, 0x10, "call"],
  [0x11, 0x11, "twoIndices"], // call_indirect
  [0x12, 0x12, "call"], // return_call
  [0x13, 0x13, "twoIndices"], // return_call_indirect
  [0x1a, 0x1b, "none"], // drop, select
  [0x1c, 0x1c, "selectTypes"],
  [0x20, 0x26, "index"], // locals, globals, table.get, table.set
  [0x28, 0x28, "memoryArgument", 2], // i32.load
  [0x29, 0x29, "memoryArgument", 3], // i64.load
  [0x2a, 0x2a, "memoryArgument", 2], // f32.load
  [0x2b, 0x2b, "memoryArgument", 3], // f64.load
  [0x2c, 0x2d, "memoryArgument", 0], // i32.load8
  [0x2e, 0x2f, "memoryArgument", 1], // i32.load16
  [0x30, 0x31, "memoryArgument", 0], // i64.load8
  [0x32, 0x33, "memoryArgument", 1], // i64.load16
  [0x34, 0x35, "memoryArgument", 2], // i64.load32
  [0x36, 0x36, "memoryArgument", 2], // i32.store
  [0x37, 0x37, "memoryArgument", 3], // i64.store
  [0x38, 0x38, "memoryArgument", 2], // f32.store
  [0x39, 0x39, "memoryArgument", 3], // f64.store
  [0x3a, 0x3a, "memoryArgument", 0], // i32.store8
  [0x3b, 0x3b, "memoryArgument", 1], // i32.store16
  [0x3c, 0x3c, "memoryArgument", 0], // i64.store8
  [0x3d, 0x3d, "memoryArgument", 1], // i64.store16
  [0x3e, 0x3e, "memoryArgument", 2], // i64.store32
  [0x3f, 0x40, "memory"], // memory.size, memory.grow
  [0x41, 0x41, "i32"],
  [0x42, 0x42, "i64"],
  [0x43, 0x43, "f32"],
  [0x44, 0x44, "f64"],
  [0x45, 0xc4, "none"], // comparisons, arithmetic, conversions, sign extension
  [0xd0, 0xd0, "heapType"], // ref.null
  [0xd1, 0xd1, "none"], // ref.is_null
  [0xd2, 0xd2, "function"], // ref.func
];

/** After the prefix 0xfc. */
const bulk: readonly Row[] = [
  [0, 7, "none"], // saturating truncation
  [8, 8, "dataAndMemory"], // memory.init
  [9, 9, "index"], // data.drop
  [10, 10, "twoMemories"], // memory.copy
  [11, 11, "memory"], // memory.fill
  [12, 12, "twoIndices"], // table.init
  [13, 13, "index"], // elem.drop
  [14, 14, "twoIndices"], // table.copy
  [15, 17, "index"], // table.grow, table.size, table.fill
];

/** After the prefix 0xfd. */
const vector: readonly Row[] = [
  [0, 0, "memoryArgument", 4], // v128.load
  [1, 6, "memoryArgument", 3], // v128.load8x8 … load32x2
  [7, 7, "memoryArgument", 0], // v128.load8_splat
  [8, 8, "memoryArgument", 1],
  [9, 9, "memoryArgument", 2],
  [10, 10, "memoryArgument", 3],
  [11, 11, "memoryArgument", 4], // v128.store
  [12, 12, "v128"],
  [13, 13, "shuffle"],
  [14, 20, "none"], // swizzle, splats
  [21, 23, "lane", 16],
  [24, 26, "lane", 8],
  [27, 28, "lane", 4],
  [29, 30, "lane", 2],
  [31, 32, "lane", 4],
  [33, 34, "lane", 2],
  [35, 83, "none"], // comparisons, bits
  [84, 84, "memoryArgumentAndLane", 0], // v128.load8_lane
  [85, 85, "memoryArgumentAndLane", 1],
  [86, 86, "memoryArgumentAndLane", 2],
  [87, 87, "memoryArgumentAndLane", 3],
  [88, 88, "memoryArgumentAndLane", 0], // v128.store8_lane
  [89, 89, "memoryArgumentAndLane", 1],
  [90, 90, "memoryArgumentAndLane", 2],
  [91, 91, "memoryArgumentAndLane", 3],
  [92, 92, "memoryArgument", 2], // v128.load32_zero
  [93, 93, "memoryArgument", 3], // v128.load64_zero
  [94, 153, "none"],
  [155, 161, "none"],
  [163, 164, "none"],
  [167, 174, "none"],
  [177, 177, "none"],
  [181, 186, "none"],
  [188, 193, "none"],
  [195, 196, "none"],
  [199, 206, "none"],
  [209, 209, "none"],
  [213, 225, "none"],
  [227, 237, "none"],
  [239, 255, "none"],
  [0x100, 0x113, "none"], // relaxed
];

function table(rows: readonly Row[]): readonly (Instruction | undefined)[] {
  const all: (Instruction | undefined)[] = [];
  for (const [first, last, immediates, limit = 0] of rows)
    for (let code = first; code <= last; code++) all[code] = { immediates, limit };
  return all;
}

export const plainInstructions = table(plain);
export const bulkInstructions = table(bulk);
export const vectorInstructions = table(vector);

export const prefix = { garbageCollection: 0xfb, bulk: 0xfc, vector: 0xfd, threads: 0xfe } as const;

/** Opcodes allowed in a constant expression: constants, and the arithmetic of extended constants. */
export const constantInstructions: ReadonlySet<number> = new Set([
  0x0b, // end
  0x23, // global.get
  0x41, // i32.const
  0x42, // i64.const
  0x43, // f32.const
  0x44, // f64.const
  0x6a, // i32.add
  0x6b, // i32.sub
  0x6c, // i32.mul
  0x7c, // i64.add
  0x7d, // i64.sub
  0x7e, // i64.mul
  0xd0, // ref.null
  0xd2, // ref.func
  prefix.vector, // v128.const
]);
export const vectorConstant = 12;
