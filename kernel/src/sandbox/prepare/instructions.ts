import { type BinaryReader, type BinaryWriter, ModuleRefusal } from "./binary.ts";

/**
 * Copies instructions, giving function indices their new numbers and sending `memory.grow` through a function of
 * ours. Knows WebAssembly 2.0 with SIMD, tail calls and extended constants; an instruction beyond that (threads,
 * exceptions, garbage collection) is refused by its family's name.
 */
export interface InstructionMapping {
  /** The new index of a function. */
  readonly functionIndex: (index: number) => number;
  /** The function that stands in for `memory.grow`, of type (i32) -> i32. */
  readonly growFunction: number;
  /** Told of every function that is taken as a value, by its new index. */
  readonly onReference: (newIndex: number) => void;
}

const opcode = { end: 0x0b, call: 0x10, returnCall: 0x12, memoryGrow: 0x40, refFunc: 0xd2 } as const;

/** One byte value types and the empty block type; anything else there is a type index or a newer proposal's type. */
const plainTypes = new Set([0x7f, 0x7e, 0x7d, 0x7c, 0x7b, 0x70, 0x6f]);

export function readValueType(reader: BinaryReader): number {
  const type = reader.byte();
  if (!plainTypes.has(type)) refuse("typed references or garbage collection");
  return type;
}

/** Copies a whole function body's instructions: to the reader's end. */
export function copyBody(reader: BinaryReader, writer: BinaryWriter, mapping: InstructionMapping): void {
  copyInstructions(reader, writer, mapping, false);
}

/** Copies a constant expression: to its `end`. It holds no blocks, so the first `end` is its own. */
export function copyConstant(reader: BinaryReader, writer: BinaryWriter, mapping: InstructionMapping): void {
  copyInstructions(reader, writer, mapping, true);
}

function copyInstructions(
  reader: BinaryReader,
  writer: BinaryWriter,
  mapping: InstructionMapping,
  stopAtEnd: boolean,
): void {
  // What stays as it is is copied in runs, not instruction by instruction.
  let runStart = reader.position;
  while (!reader.done) {
    const start = reader.position;
    const code = reader.byte();
    if (code === opcode.call || code === opcode.returnCall) {
      const index = mapping.functionIndex(reader.u32());
      writer.range(reader.bytes, runStart, start).byte(code).u32(index);
      runStart = reader.position;
    } else if (code === opcode.refFunc) {
      const index = mapping.functionIndex(reader.u32());
      mapping.onReference(index);
      writer.range(reader.bytes, runStart, start).byte(code).u32(index);
      runStart = reader.position;
    } else if (code === opcode.memoryGrow) {
      reader.skipLeb();
      writer.range(reader.bytes, runStart, start).byte(opcode.call).u32(mapping.growFunction);
      runStart = reader.position;
    } else {
      skipImmediates(reader, code);
      if (stopAtEnd && code === opcode.end) break;
    }
  }
  writer.range(reader.bytes, runStart, reader.position);
}

function skipImmediates(reader: BinaryReader, code: number): void {
  if (code >= 0x45 && code <= 0xc4) return; // numeric
  if (code >= 0x28 && code <= 0x3e) return skipMemoryArgument(reader);
  switch (code) {
    case 0x00: // unreachable
    case 0x01: // nop
    case 0x05: // else
    case 0x0b: // end
    case 0x0f: // return
    case 0x1a: // drop
    case 0x1b: // select
    case 0xd1: // ref.is_null
      return;
    case 0x02: // block
    case 0x03: // loop
    case 0x04: // if
      return skipBlockType(reader);
    case 0x0c: // br
    case 0x0d: // br_if
    case 0x20: // local.get
    case 0x21: // local.set
    case 0x22: // local.tee
    case 0x23: // global.get
    case 0x24: // global.set
    case 0x25: // table.get
    case 0x26: // table.set
    case 0x3f: // memory.size
    case 0x41: // i32.const
    case 0x42: // i64.const
      return reader.skipLeb();
    case 0x11: // call_indirect
    case 0x13: // return_call_indirect
      reader.skipLeb();
      return reader.skipLeb();
    case 0x0e: // br_table
      for (let left = reader.u32(); left >= 0; left--) reader.skipLeb();
      return;
    case 0x1c: // select with types
      for (let left = reader.u32(); left > 0; left--) readValueType(reader);
      return;
    case 0x43: // f32.const
      return reader.skip(4);
    case 0x44: // f64.const
      return reader.skip(8);
    case 0xd0: // ref.null
      readValueType(reader);
      return;
    case 0xfc:
      return skipBulk(reader);
    case 0xfd:
      return skipVector(reader);
    case 0xfe:
      return refuse("threads (atomic instructions)");
    case 0x06:
    case 0x07:
    case 0x08:
    case 0x09:
    case 0x0a:
    case 0x18:
    case 0x19:
    case 0x1f:
      return refuse("exceptions");
    default:
      return refuse(`typed references or garbage collection (instruction 0x${code.toString(16)})`);
  }
}

function skipMemoryArgument(reader: BinaryReader): void {
  reader.skipLeb();
  reader.skipLeb();
}

function skipBlockType(reader: BinaryReader): void {
  const first = reader.byte();
  if (first === 0x40 || plainTypes.has(first)) return;
  // A type index is a signed number that is not negative: bit 6 of its last byte is clear.
  let last = first;
  while (last >= 0x80) last = reader.byte();
  if ((last & 0x40) !== 0) refuse("typed references or garbage collection");
}

function skipBulk(reader: BinaryReader): void {
  const code = reader.u32();
  if (code <= 7) return; // saturating truncation
  if (code > 17) return refuse(`an instruction that is not known here (0xfc ${code})`);
  const twoIndices = code === 8 || code === 10 || code === 12 || code === 14;
  reader.skipLeb();
  if (twoIndices) reader.skipLeb();
}

function skipVector(reader: BinaryReader): void {
  const code = reader.u32();
  if (code <= 11 || code === 92 || code === 93) return skipMemoryArgument(reader);
  if (code === 12 || code === 13) return reader.skip(16);
  if (code >= 21 && code <= 34) return reader.skip(1);
  if (code >= 84 && code <= 91) {
    skipMemoryArgument(reader);
    return reader.skip(1);
  }
  if (code > 0x113) refuse(`an instruction that is not known here (0xfd ${code})`);
}

function refuse(feature: string): never {
  throw new ModuleRefusal(
    "feature",
    `The module uses ${feature}, which agents may not; compile it for WebAssembly 2.0.`,
  );
}
