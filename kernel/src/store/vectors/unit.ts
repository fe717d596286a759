import { invalidParams } from "../../base/errors.ts";

/** Maximum dimensions of a vector: twice those of the largest known embedders. */
export const maxDimensions = 8_192;
/** Maximum vectors in one index; beyond that, the memory of one process is the limit. */
export const maxVectors = 4_194_304;

/**
 * Returns a copy of length 1; a zero vector stays zero and is similar to nothing. Throws InvalidParams for another
 * number of dimensions, or a number that is not finite.
 */
export function unitVector(vector: Float32Array, dimensions: number): Float32Array {
  if (vector.length !== dimensions)
    throw invalidParams(`A vector has ${vector.length} dimensions; the index has ${dimensions}.`, {
      dimensions,
    });
  let squares = 0;
  for (let at = 0; at < dimensions; at++) squares += vector[at]! * vector[at]!;
  // Squares of 32-bit numbers do not overflow here, so a result that is not finite comes from the input.
  if (!Number.isFinite(squares)) throw invalidParams("A vector contains a number that is not finite.");
  const unit = new Float32Array(dimensions);
  if (squares === 0) return unit;
  const scale = 1 / Math.sqrt(squares);
  for (let at = 0; at < dimensions; at++) unit[at] = vector[at]! * scale;
  return unit;
}

/** Throws InvalidParams if the value cannot be a label. */
export function checkLabel(label: number): void {
  if (!Number.isSafeInteger(label) || label < 1)
    throw invalidParams(`The label ${label} is not a positive integer below 2^53.`);
}

/** Throws InvalidParams if no index can have this number of dimensions. */
export function checkDimensions(dimensions: number): void {
  if (!Number.isSafeInteger(dimensions) || dimensions < 1 || dimensions > maxDimensions)
    throw invalidParams(`An index has 1 to ${maxDimensions} dimensions, not ${dimensions}.`);
}
