import { BinaryReader, BinaryWriter, ModuleRefusal } from "./binary.ts";
import { prepareBounds as bounds } from "./bounds.ts";
import { type AddedFunction, planImports } from "./imports.ts";
import {
  copyBody,
  copyConstant,
  type InstructionMapping,
  readReferenceType,
  readValueType,
} from "./instructions.ts";
import { boundedCount, type ModuleOutline } from "./module-reader.ts";
import { errno, lastDescriptor, wasiModule } from "./preview1.ts";
import { moduleHeader, section } from "./sections.ts";

const functionKind = 0;
const memoryKind = 2;

/**
 * Rewrites the module: keeps allowed imports, adds guards and refusals, sets the maximum of memory and tables,
 * exports only `memory` and `_start`, makes `_start` call the start function, and drops custom sections.
 *
 * Every `memory.grow` is followed by a call to `sched_yield`. So the guest's thread sees each change of the
 * memory's size, even in a guest that makes no other call.
 *
 * The order of function indices afterwards: kept imports, the module's own functions, added functions.
 */
export function rewriteModule(outline: ModuleOutline, start: number, maxPages: number): Uint8Array {
  const plan = planImports(outline);
  const { routes, added } = plan;
  const growType = outline.types.length;
  const startType = growType + 1;
  const yieldType = growType + 2;

  const yieldsAlready = plan.kept.findIndex((entry) => entry.name === "sched_yield");
  const kept = yieldsAlready < 0 ? [...plan.kept, { name: "sched_yield", type: yieldType }] : plan.kept;
  const yieldIndex = yieldsAlready < 0 ? plan.kept.length : yieldsAlready;
  const firstOwn = kept.length;
  const firstAdded = firstOwn + outline.functions.length;
  const growIndex = firstAdded + added.length;
  const startIndex = growIndex + 1;

  const functionIndex = (index: number): number => {
    const route = routes[index];
    if (index >= routes.length + outline.functions.length)
      throw new ModuleRefusal("feature", `The module refers to a function ${index} that does not exist.`);
    if (route === undefined) return index - routes.length + firstOwn;
    return "kept" in route ? route.kept : firstAdded + route.added;
  };
  const references = new Set<number>();
  const mapping: InstructionMapping = {
    functionIndex,
    growFunction: growIndex,
    onReference: (index) => references.add(index),
  };

  const startBody = outline.start === null ? [start] : [outline.start, start];
  const addedBodies = [...added.map(bodyOf), growBody(yieldIndex), callsBody(startBody.map(functionIndex))];
  // The code is rewritten first, because the element section before it must declare the code's references.
  const code = rewriteCode(outline, mapping, addedBodies);
  const globals = rewriteGlobals(outline, mapping);
  const content = new Map<number, BinaryWriter | Uint8Array | undefined>([
    [section.type, typeSection(outline)],
    [section.import, importSection(kept)],
    [section.function, functionSection(outline, [...added.map((entry) => entry.type), growType, startType])],
    [section.table, rewriteTables(outline)],
    [section.memory, new BinaryWriter().u32(1).byte(1).u32(outline.memory.initialPages).u32(maxPages)],
    [section.global, globals],
    [section.export, exportSection(startIndex)],
    [section.element, rewriteElements(outline, mapping, references)],
    [section.dataCount, dataCount(outline)],
    [section.code, code],
    [section.data, boundedData(outline, mapping)],
  ]);

  const module = new BinaryWriter(code.length + 4096).raw(moduleHeader);
  for (const [id, written] of content) {
    if (written === undefined) continue;
    const bytes = written instanceof BinaryWriter ? written.view() : written;
    module.byte(id).u32(bytes.length).raw(bytes);
  }
  return module.view().slice();
}

function typeSection(outline: ModuleOutline): BinaryWriter {
  const original = new BinaryReader(outline.sections.get(section.type) ?? new Uint8Array([0]));
  original.u32();
  return new BinaryWriter()
    .u32(outline.types.length + 3)
    .range(original.bytes, original.position, original.end)
    .raw(new Uint8Array([0x60, 1, 0x7f, 1, 0x7f])) // memory.grow: (i32) -> i32
    .raw(new Uint8Array([0x60, 0, 0])) // _start: () -> nothing
    .raw(new Uint8Array([0x60, 0, 1, 0x7f])); // sched_yield: () -> i32
}

function importSection(kept: readonly { name: string; type: number }[]): BinaryWriter {
  const writer = new BinaryWriter().u32(kept.length);
  for (const { name, type } of kept) writer.text(wasiModule).text(name).byte(functionKind).u32(type);
  return writer;
}

function functionSection(outline: ModuleOutline, addedTypes: readonly number[]): BinaryWriter {
  const writer = new BinaryWriter().u32(outline.functions.length + addedTypes.length);
  for (const type of outline.functions) writer.u32(type);
  for (const type of addedTypes) writer.u32(type);
  return writer;
}

function exportSection(startIndex: number): BinaryWriter {
  return new BinaryWriter()
    .u32(2)
    .text("memory")
    .byte(memoryKind)
    .u32(0)
    .text("_start")
    .byte(functionKind)
    .u32(startIndex);
}

function rewriteTables(outline: ModuleOutline): BinaryWriter | undefined {
  const bytes = outline.sections.get(section.table);
  if (bytes === undefined) return undefined;
  const reader = new BinaryReader(bytes);
  const count = boundedCount(reader, bounds.maxTables, "maxTables", "tables");
  const writer = new BinaryWriter().u32(count);
  for (let index = 0; index < count; index++) {
    const type = readReferenceType(reader);
    const flags = reader.byte();
    if (flags > 1)
      throw new ModuleRefusal(
        "feature",
        "The module has a table with 64-bit or shared limits, which agents may not use.",
      );
    const initial = boundedCount(reader, bounds.maxTableElements, "maxTableElements", "elements in a table");
    const maximum = flags === 1 ? reader.u32() : bounds.maxTableElements;
    writer.byte(type).byte(1).u32(initial).u32(Math.min(maximum, bounds.maxTableElements));
  }
  reader.expectEnd("its tables");
  return writer;
}

function rewriteGlobals(outline: ModuleOutline, mapping: InstructionMapping): BinaryWriter | undefined {
  const bytes = outline.sections.get(section.global);
  if (bytes === undefined) return undefined;
  const reader = new BinaryReader(bytes);
  const count = boundedCount(reader, bounds.maxGlobals, "maxGlobals", "globals");
  const writer = new BinaryWriter(bytes.length + 16).u32(count);
  for (let index = 0; index < count; index++) {
    const type = readValueType(reader);
    const mutability = reader.byte();
    if (mutability > 1)
      throw new ModuleRefusal("feature", "The module has a shared global, which agents may not use.");
    writer.byte(type).byte(mutability);
    copyConstant(reader, writer, mapping);
  }
  reader.expectEnd("its globals");
  return writer;
}

function rewriteElements(
  outline: ModuleOutline,
  mapping: InstructionMapping,
  references: ReadonlySet<number>,
): BinaryWriter | undefined {
  const bytes = outline.sections.get(section.element);
  if (bytes === undefined && references.size === 0) return undefined;
  const reader = new BinaryReader(bytes ?? new Uint8Array([0]));
  const count = boundedCount(reader, bounds.maxSegments, "maxSegments", "element segments");
  // A referenced function must be declared, and the export that declared it may have been removed.
  const declared = [...references];
  const writer = new BinaryWriter((bytes?.length ?? 0) + 16).u32(count + (declared.length > 0 ? 1 : 0));
  for (let index = 0; index < count; index++) copySegment(reader, writer, mapping);
  reader.expectEnd("its element segments");
  if (declared.length > 0) {
    writer.byte(3).byte(0).u32(declared.length);
    for (const functionIndex of declared) writer.u32(functionIndex);
  }
  return writer;
}

function copySegment(reader: BinaryReader, writer: BinaryWriter, mapping: InstructionMapping): void {
  const flags = reader.byte();
  if (flags > 7)
    throw new ModuleRefusal("feature", `The module has an element segment of an unknown kind (${flags}).`);
  writer.byte(flags);
  const isActive = (flags & 1) === 0;
  const namesTable = isActive && (flags & 2) !== 0;
  const holdsExpressions = (flags & 4) !== 0;
  if (namesTable) writer.u32(reader.u32());
  if (isActive) copyConstant(reader, writer, mapping);
  if ((flags & 3) !== 0) {
    const kind = holdsExpressions ? readReferenceType(reader) : reader.byte();
    if (!holdsExpressions && kind !== functionKind)
      throw new ModuleRefusal("feature", `The module has an element segment of an unknown kind (${kind}).`);
    writer.byte(kind);
  }
  const length = reader.u32();
  writer.u32(length);
  for (let index = 0; index < length; index++) {
    if (holdsExpressions) copyConstant(reader, writer, mapping);
    else writer.u32(mapping.functionIndex(reader.u32()));
  }
}

function rewriteCode(
  outline: ModuleOutline,
  mapping: InstructionMapping,
  addedBodies: readonly BinaryWriter[],
): BinaryWriter {
  const bytes = outline.sections.get(section.code) ?? new Uint8Array([0]);
  const reader = new BinaryReader(bytes);
  const count = reader.u32();
  const writer = new BinaryWriter(bytes.length + (bytes.length >> 4) + 256).u32(count + addedBodies.length);
  const scratch = new BinaryWriter(4096);
  if (count !== outline.functions.length)
    throw new ModuleRefusal(
      "feature",
      "The number of functions in the module differs from the number of bodies.",
    );
  for (let index = 0; index < count; index++) {
    const body = reader.slice(reader.u32());
    const localsStart = body.position;
    for (let left = body.u32(); left > 0; left--) {
      body.u32();
      readValueType(body);
    }
    scratch.clear();
    scratch.range(bytes, localsStart, body.position);
    copyBody(body, scratch, mapping);
    writer.sized(scratch);
  }
  reader.expectEnd("its code");
  for (const body of addedBodies) writer.sized(body);
  return writer;
}

function dataCount(outline: ModuleOutline): Uint8Array | undefined {
  const bytes = outline.sections.get(section.dataCount);
  if (bytes === undefined) return undefined;
  const reader = new BinaryReader(bytes);
  reader.u32();
  reader.expectEnd("the number of its data segments");
  return bytes;
}

function boundedData(outline: ModuleOutline, mapping: InstructionMapping): Uint8Array | undefined {
  const bytes = outline.sections.get(section.data);
  if (bytes !== undefined) checkData(bytes, outline.memory.initialPages * 65_536, mapping);
  return bytes;
}

/** Refuses data that does not fit into the initial memory, because the runtime could not instantiate the module. */
function checkData(bytes: Uint8Array, memoryBytes: number, mapping: InstructionMapping): void {
  const reader = new BinaryReader(bytes);
  const count = boundedCount(reader, bounds.maxSegments, "maxSegments", "data segments");
  const scratch = new BinaryWriter();
  for (let index = 0; index < count; index++) {
    const flags = reader.u32();
    if (flags > 2)
      throw new ModuleRefusal("feature", `The module has a data segment of an unknown kind (${flags}).`);
    if (flags === 2 && reader.u32() !== 0)
      throw new ModuleRefusal(
        "feature",
        "The module has data for a second memory, which agents may not use.",
      );
    let offset: number | null = null;
    if (flags !== 1) {
      const start = reader.position;
      scratch.clear();
      copyConstant(reader, scratch, mapping);
      offset = constantAddress(new BinaryReader(bytes, start, reader.position));
    }
    const length = reader.u32();
    reader.skip(length);
    if (offset !== null && offset + length > memoryBytes) {
      throw new ModuleRefusal(
        "memory",
        `The module puts ${length} bytes of data at ${offset} into a memory that starts with ${memoryBytes} bytes.`,
      );
    }
  }
  reader.expectEnd("its data");
}

/** Returns the address of a single `i32.const`; null for a computed expression, which the engine checks. */
function constantAddress(expression: BinaryReader): number | null {
  if (expression.byte() !== instruction.i32Const) return null;
  const address = expression.s32() >>> 0;
  return expression.byte() === instruction.end ? address : null;
}

const instruction = {
  end: 0x0b,
  if: 0x04,
  return: 0x0f,
  call: 0x10,
  drop: 0x1a,
  localGet: 0x20,
  memoryGrow: 0x40,
  i32Const: 0x41,
  i32GreaterUnsigned: 0x4b,
} as const;
const emptyBlock = 0x40;

function bodyOf(added: AddedFunction): BinaryWriter {
  const writer = new BinaryWriter().u32(0);
  if (added.kind === "refuse")
    return writer.byte(instruction.i32Const).s32(added.errno).byte(instruction.end);
  writer.byte(instruction.localGet).u32(0).byte(instruction.i32Const).s32(lastDescriptor);
  writer.byte(instruction.i32GreaterUnsigned).byte(instruction.if).byte(emptyBlock);
  writer
    .byte(instruction.i32Const)
    .s32(errno.badFileDescriptor)
    .byte(instruction.return)
    .byte(instruction.end);
  for (let index = 0; index < added.parameters; index++) writer.byte(instruction.localGet).u32(index);
  return writer.byte(instruction.call).u32(added.target).byte(instruction.end);
}

function growBody(yieldIndex: number): BinaryWriter {
  return new BinaryWriter()
    .u32(0)
    .byte(instruction.localGet)
    .u32(0)
    .byte(instruction.memoryGrow)
    .byte(0)
    .byte(instruction.call)
    .u32(yieldIndex)
    .byte(instruction.drop)
    .byte(instruction.end);
}

function callsBody(functions: readonly number[]): BinaryWriter {
  const writer = new BinaryWriter().u32(0);
  for (const index of functions) writer.byte(instruction.call).u32(index);
  return writer.byte(instruction.end);
}
