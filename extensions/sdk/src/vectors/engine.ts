import { findHost } from "../guest/host.ts";

/** What the micro HNSW can be asked; the numbers are those of `kernel/build/guest/vectors.wat`. */
const operations = {
  bytes: 0,
  create: 1,
  add: 2,
  remove: 3,
  has: 4,
  search: 5,
  size: 6,
  capacity: 7,
  dimensions: 8,
  inputAt: 9,
  resultsAt: 10,
  savedBytes: 11,
  loadBytes: 12,
  resize: 13,
  save: 14,
  load: 15,
} as const;
export type Operation = keyof typeof operations;

/** What it answers instead of a number from 0 on. */
export const refusals = { badArgument: -1, isFull: -2, badVector: -3, malformed: -4 } as const;

/** The micro HNSW, and the memory of one set. */
export interface VectorEngine<Block = unknown> {
  /** A block of so many bytes; throws where there is no memory for it. */
  allocate(bytes: number): Block;
  /** A view of it, good until the next call of `allocate`. */
  view(block: Block): { readonly buffer: ArrayBufferLike; readonly byteOffset: number };
  call(operation: Operation, block: Block | null, other: Block | null, ...numbers: number[]): number;
}

let makeEngine: (() => VectorEngine) | undefined;

/** For tests, which run outside of the guest. */
export function provideVectorEngine(make: () => VectorEngine): void {
  makeEngine = make;
}

/** In a guest what is linked into it; elsewhere what was provided. */
export function openVectorEngine(): VectorEngine {
  return makeEngine === undefined ? guestEngine() : makeEngine();
}

/** A block is an ArrayBuffer: its bytes lie where the linked module works, and are collected with the set. */
function guestEngine(): VectorEngine<ArrayBuffer> {
  const { vectors } = findHost();
  return {
    allocate: (bytes) => new ArrayBuffer(bytes),
    view: (block) => ({ buffer: block, byteOffset: 0 }),
    call: (operation, block, other, a = 0, b = 0, c = 0, d = 0) =>
      vectors(operations[operation], block, other, a, b, c, d),
  };
}
