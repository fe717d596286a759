import { invalidParams } from "../../base/errors.ts";
import { decodeHalf, encodeHalf } from "./half.ts";

/** The precision in which a vector is stored: hot at 32 bits a number, warm at 16, cold at 8. */
export type Tier = "hot" | "warm" | "cold";

/** A vector as stored in a table. */
export interface AtRest {
  readonly tier: Tier;
  readonly bytes: Uint8Array;
}

/**
 * Numbers of a cold vector that share a step. A large number widens the step of all numbers in its block: with one step
 * for all 384 numbers, half as much again of recall@10 is lost.
 */
const blockWidth = 32;
/** The largest magnitude of a byte in both directions. */
const mostSteps = 127;

const blocksOf = (dimensions: number): number => Math.ceil(dimensions / blockWidth);

/** Returns the stored bytes of a vector. Its numbers must be finite and at most 65,504, the limit of half precision. */
export function encodeVector(vector: Float32Array, tier: Tier): Uint8Array {
  switch (tier) {
    case "hot":
      return new Uint8Array(vector.slice().buffer);
    case "warm": {
      const halves = new Uint16Array(vector.length);
      encodeHalf(vector, halves);
      return new Uint8Array(halves.buffer);
    }
    case "cold":
      return encodeCold(vector);
  }
}

/**
 * Returns the vector that `encodeVector` was given, at the tier's precision. Throws InvalidParams for bytes that it
 * never returns.
 */
export function decodeVector({ tier, bytes }: AtRest): Float32Array {
  const dimensions = dimensionsOf(tier, bytes.byteLength);
  if (!Number.isInteger(dimensions) || dimensions < 1)
    throw invalidParams(`A ${tier} vector does not have ${bytes.byteLength} bytes.`);
  // A copy: bytes from a database may begin at any offset.
  const { buffer } = bytes.slice();
  if (tier === "hot") return new Float32Array(buffer);
  const vector = new Float32Array(dimensions);
  if (tier === "warm") decodeHalf(new Uint16Array(buffer), 0, vector);
  else decodeCold(buffer, vector);
  return vector;
}

/** Not a whole number, or less than 1, if no vector has this many bytes. */
function dimensionsOf(tier: Tier, byteLength: number): number {
  if (tier !== "cold") return byteLength / (tier === "hot" ? 4 : 2);
  const blocks = Math.ceil(byteLength / (blockWidth + 2));
  const dimensions = byteLength - blocks * 2;
  return blocksOf(dimensions) === blocks ? dimensions : Number.NaN;
}

/** The steps at half precision, block after block; then each number as a count of its block's steps. */
function encodeCold(vector: Float32Array): Uint8Array {
  const blocks = blocksOf(vector.length);
  const bytes = new Uint8Array(blocks * 2 + vector.length);
  const steps = new Float16Array(bytes.buffer, 0, blocks);
  const counts = new Int8Array(bytes.buffer, blocks * 2);
  for (let block = 0; block < blocks; block++) {
    const first = block * blockWidth;
    const last = Math.min(vector.length, first + blockWidth);
    let most = 0;
    for (let at = first; at < last; at++) most = Math.max(most, Math.abs(vector[at]!));
    steps[block] = most / mostSteps;
    // The step as it will be read; zero if all numbers are too small for it.
    const step = steps[block]!;
    if (step === 0) continue;
    for (let at = first; at < last; at++)
      counts[at] = Math.max(-mostSteps, Math.min(mostSteps, Math.round(vector[at]! / step)));
  }
  return bytes;
}

function decodeCold(buffer: ArrayBuffer, vector: Float32Array): void {
  const blocks = blocksOf(vector.length);
  const steps = new Float32Array(new Float16Array(buffer, 0, blocks));
  const counts = new Int8Array(buffer, blocks * 2);
  for (let at = 0; at < vector.length; at++) vector[at] = counts[at]! * steps[Math.floor(at / blockWidth)]!;
}
