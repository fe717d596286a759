/** The types of a tensor's numbers, with their bytes; little-endian, a bool is a byte with 0 or 1. */
const tensorTypes = {
  float32: 4,
  float64: 8,
  int64: 8,
  int32: 4,
  int8: 1,
  uint8: 1,
  bool: 1,
} as const;
export type TensorType = keyof typeof tensorTypes;

export interface TensorShape {
  readonly name: string;
  readonly type: TensorType;
  /** The length in each dimension; empty for a single number. */
  readonly dims: readonly number[];
}

/** A tensor with its numbers, row by row. */
export interface NamedTensor extends TensorShape {
  readonly bytes: Uint8Array;
}

export const tensorBounds = {
  /** Inputs, or outputs, of one run. */
  maxTensors: 64,
  maxDimensions: 8,
  maxLength: 2 ** 31 - 1,
  /** Bytes of all inputs of one run, and of all its outputs. */
  maxBytes: 32 * 1024 * 1024,
} as const;

/** Returns how many bytes the numbers take; for lengths that no memory could hold this is not exact, but still too large. */
export function byteLengthOf({ type, dims }: Omit<TensorShape, "name">): number {
  return dims.reduce((product, length) => product * length, tensorTypes[type]);
}

export function isTensorType(type: string): type is TensorType {
  return Object.hasOwn(tensorTypes, type);
}

/** Describes a tensor in messages: `"x" (float32 [1, 3])`. A dimension without a length of its own has a name. */
export function shownTensor(name: string, type: string, dims: readonly (number | string)[]): string {
  return `${JSON.stringify(name)} (${type} [${dims.join(", ")}])`;
}
