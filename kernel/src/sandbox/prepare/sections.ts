import { BinaryReader } from "./binary.ts";

export const section = {
  custom: 0,
  type: 1,
  import: 2,
  function: 3,
  table: 4,
  memory: 5,
  global: 6,
  export: 7,
  start: 8,
  element: 9,
  code: 10,
  data: 11,
  dataCount: 12,
  tag: 13,
} as const;

/** The header of every module: its magic number and version 1. */
export const moduleHeader: Uint8Array = Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

/** Yields the sections in order, each with a reader over its content. Throws ModuleRefusal for a truncated section. */
export function* sectionsIn(module: Uint8Array): Generator<{ id: number; content: BinaryReader }> {
  const reader = new BinaryReader(module, moduleHeader.length);
  while (!reader.done) yield { id: reader.byte(), content: reader.slice(reader.u32()) };
}
