import { findHost } from "../guest/host.ts";

/** The operations of the micro HNSW; the numbers are those of `kernel/build/guest/vectors.wat`. */
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

/** The results below 0, which are errors. */
export const refusals = { badArgument: -1, isFull: -2, badVector: -3, malformed: -4 } as const;

/** The micro HNSW, and the memory of one set. */
export interface VectorEngine<Block = unknown> {
  /** Allocates a block of this many bytes; throws if there is not enough memory. */
  allocate(bytes: number): Block;
  /** Returns a view of the block that is valid until the next call of `allocate`. */
  view(block: Block): { readonly buffer: ArrayBufferLike; readonly byteOffset: number };
  call(operation: Operation, block: Block | null, other: Block | null, ...numbers: number[]): number;
}

let makeEngine: (() => VectorEngine) | undefined;

/** For tests, which run outside the guest. */
export function provideVectorEngine(make: () => VectorEngine): void {
  makeEngine = make;
}

/** Returns the engine that is linked into the guest; elsewhere, the provided one. */
export function openVectorEngine(): VectorEngine {
  return makeEngine === undefined ? guestEngine() : makeEngine();
}

/** A block is an ArrayBuffer: the linked module works in its bytes, and it is garbage collected with the set. */
function guestEngine(): VectorEngine<ArrayBuffer> {
  const { vectors } = findHost();
  return {
    allocate: (bytes) => new ArrayBuffer(bytes),
    view: (block) => ({ buffer: block, byteOffset: 0 }),
    call: (operation, block, other, a = 0, b = 0, c = 0, d = 0) =>
      vectors(operations[operation], block, other, a, b, c, d),
  };
}
