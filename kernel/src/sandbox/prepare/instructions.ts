import { type BinaryReader, type BinaryWriter, ModuleRefusal } from "./binary.ts";
import {
  bulkInstructions,
  constantInstructions,
  type Instruction,
  plainInstructions,
  prefix,
  vectorConstant,
  vectorInstructions,
} from "./instruction-table.ts";

/**
 * Copies instructions with new function indices, and redirects `memory.grow` to an added function. Refuses an
 * instruction that `instruction-table.ts` does not list, and immediates that do not match their exact encoding, so
 * that the engine and this reader cannot interpret the same bytes as different instructions.
 */
export interface InstructionMapping {
  /** Returns the new index of a function. Throws ModuleRefusal if the function does not exist. */
  readonly functionIndex: (index: number) => number;
  /** The function that stands in for `memory.grow`, of type (i32) -> i32. */
  readonly growFunction: number;
  /** Called for every function that is used as a value, with its new index. */
  readonly onReference: (newIndex: number) => void;
}

const opcode = { if: 0x04, call: 0x10, memoryGrow: 0x40 } as const;

/** Value types of one byte; all others belong to later proposals. */
const valueTypes = new Set([0x7f, 0x7e, 0x7d, 0x7c, 0x7b, 0x70, 0x6f]);
const referenceTypes = new Set([0x70, 0x6f]);
const emptyBlock = 0x40;

export function readValueType(reader: BinaryReader): number {
  const type = reader.byte();
  if (!valueTypes.has(type)) refuse("typed references or garbage collection");
  return type;
}

export function readReferenceType(reader: BinaryReader): number {
  const type = reader.byte();
  if (!referenceTypes.has(type)) refuse("typed references or garbage collection");
  return type;
}

/** Copies the instructions of a whole function body. The end of the last block must be the end of the reader. */
export function copyBody(reader: BinaryReader, writer: BinaryWriter, mapping: InstructionMapping): void {
  copyInstructions(reader, writer, mapping, false);
}

/** Copies a constant expression up to its `end`. */
export function copyConstant(reader: BinaryReader, writer: BinaryWriter, mapping: InstructionMapping): void {
  copyInstructions(reader, writer, mapping, true);
}

function copyInstructions(
  reader: BinaryReader,
  writer: BinaryWriter,
  mapping: InstructionMapping,
  isConstant: boolean,
): void {
  // Unchanged instructions are copied in runs, not one by one.
  let runStart = reader.position;
  /** For each open block, whether it may have an `else`. The first entry is the body itself. */
  const blocks = [false];
  while (blocks.length > 0) {
    const start = reader.position;
    const code = reader.byte();
    if (isConstant && !constantInstructions.has(code))
      refuse(`an unknown instruction in a constant (${hex(code)})`);
    const instruction = instructionOf(reader, code, isConstant);
    const { immediates } = instruction;
    if (immediates === "call" || immediates === "function") {
      const index = mapping.functionIndex(reader.u32());
      if (immediates === "function") mapping.onReference(index);
      writer.range(reader.bytes, runStart, start).byte(code).u32(index);
      runStart = reader.position;
    } else if (immediates === "block") {
      readBlockType(reader);
      blocks.push(code === opcode.if);
    } else if (immediates === "else") {
      if (blocks.pop() !== true) refuse("an else without an if");
      blocks.push(false);
    } else if (immediates === "end") {
      blocks.pop();
    } else {
      readImmediates(reader, instruction);
      if (code === opcode.memoryGrow) {
        writer.range(reader.bytes, runStart, start).byte(opcode.call).u32(mapping.growFunction);
        runStart = reader.position;
      }
    }
  }
  writer.range(reader.bytes, runStart, reader.position);
  if (!isConstant) reader.expectEnd("a function's body");
}

function instructionOf(reader: BinaryReader, code: number, isConstant: boolean): Instruction {
  if (code === prefix.bulk) {
    const second = reader.u32();
    return bulkInstructions[second] ?? unknown(`0xfc ${second}`);
  }
  if (code === prefix.vector) {
    const second = reader.u32();
    if (isConstant && second !== vectorConstant) unknown(`0xfd ${second}`);
    return vectorInstructions[second] ?? unknown(`0xfd ${second}`);
  }
  return plainInstructions[code] ?? refuse(familyOf(code));
}

function familyOf(code: number): string {
  if (code === prefix.threads) return "threads (atomic instructions)";
  if ((code >= 0x06 && code <= 0x0a) || code === 0x18 || code === 0x19 || code === 0x1f) return "exceptions";
  return `typed references or garbage collection (instruction ${hex(code)})`;
}

/** Reads the immediates of an opcode up to their last byte. */
function readImmediates(reader: BinaryReader, { immediates, limit }: Instruction): void {
  switch (immediates) {
    case "none":
      return;
    case "index":
      reader.u32();
      return;
    case "twoIndices":
      reader.u32();
      reader.u32();
      return;
    case "branchTable":
      for (let left = reader.u32(); left >= 0; left--) reader.u32();
      return;
    case "selectTypes":
      if (reader.u32() !== 1) refuse("a select of several values");
      readValueType(reader);
      return;
    case "heapType":
      readReferenceType(reader);
      return;
    case "dataAndMemory":
      reader.u32();
      return readMemory(reader);
    case "twoMemories":
      readMemory(reader);
      return readMemory(reader);
    case "memory":
      return readMemory(reader);
    case "i32":
      reader.s32();
      return;
    case "i64":
      return reader.skipS64();
    case "f32":
      return reader.skip(4);
    case "f64":
      return reader.skip(8);
    case "v128":
      return reader.skip(16);
    case "shuffle":
      for (let lane = 0; lane < 16; lane++) readLane(reader, 32);
      return;
    case "lane":
      return readLane(reader, limit);
    case "memoryArgument":
      return readMemoryArgument(reader, limit);
    case "memoryArgumentAndLane":
      readMemoryArgument(reader, limit);
      return readLane(reader, 16 >> limit);
    case "call":
    case "function":
    case "block":
    case "else":
    case "end":
      throw new Error(`${immediates} must be read by the code that copies its instruction`);
  }
}

/** If bit 6 of the alignment is set, the engine reads a memory index after it; so the bit is refused. */
function readMemoryArgument(reader: BinaryReader, naturalAlignment: number): void {
  const alignment = reader.u32();
  if (alignment > naturalAlignment)
    refuse(
      alignment >= 64
        ? "several memories"
        : `an unsupported alignment (2^${alignment}; at most 2^${naturalAlignment})`,
    );
  reader.u32();
}

/** One byte in WebAssembly 2.0; with multiple memories it is an index of any length. */
function readMemory(reader: BinaryReader): void {
  if (reader.byte() !== 0) refuse("several memories");
}

function readLane(reader: BinaryReader, lanes: number): void {
  if (reader.byte() >= lanes) refuse("a lane index that is out of range");
}

function readBlockType(reader: BinaryReader): void {
  const first = reader.peek();
  if (first === emptyBlock || valueTypes.has(first)) return reader.skip(1);
  // A type index is a signed number of 33 bits that is not negative.
  if (reader.s33() < 0) refuse("typed references or garbage collection");
}

function hex(code: number): string {
  return `0x${code.toString(16).padStart(2, "0")}`;
}

function unknown(code: string): never {
  return refuse(`an unknown instruction (${code})`);
}

function refuse(feature: string): never {
  throw new ModuleRefusal(
    "feature",
    `The module uses ${feature}, which agents may not use. Compile it for WebAssembly 2.0.`,
  );
}
