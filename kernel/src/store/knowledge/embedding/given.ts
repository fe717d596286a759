import { maxDimensions } from "../../../base/vocabulary/bounds.ts";
import { invalidParams } from "../../../base/errors.ts";

/**
 * Embeddings that agents bring. Only the agent knows their model, so they are never compared with the vectors
 * that the memory's embedder makes; they have a space of their own. `similar_to` searches the embedder's
 * space, `embedding` searches this one; an item may be in both.
 *
 * The oldest item that brings an embedding sets the dimensions for all. Another number is refused with
 * InvalidParams that names the expected one, both when an item is added and in a query. If the journal still
 * contains others (two first ones at once), they are skipped and their items are found by words.
 */

/** Returns the name of the space for brought embeddings of these dimensions. */
export const givenSpace = (dimensions: number): string => `given:${dimensions}`;

/** Returns the dimensions of such a space; null for an embedder's space. */
export function givenDimensions(space: string): number | null {
  const match = /^given:(\d+)$/.exec(space);
  return match === null ? null : Number(match[1]);
}

/**
 * Returns a unit vector. Throws InvalidParams for an empty list, for numbers that are not finite, and if all
 * are 0.
 */
export function unitVector(embedding: readonly number[]): Float32Array {
  if (embedding.length === 0 || embedding.length > maxDimensions) {
    throw invalidParams(
      `An embedding has 1 to ${maxDimensions.toLocaleString("en")} numbers; this one has ${embedding.length}.`,
    );
  }
  const unit = normalized(embedding);
  if (unit === null) throw invalidParams("The numbers of an embedding must be finite, and not all 0.");
  return unit;
}

/** Returns the vector in a journal record (little-endian f32, base64); null if it is not valid. */
export function decodeGiven(base64: unknown): Float32Array | null {
  if (typeof base64 !== "string") return null;
  const bytes = Buffer.from(base64, "base64");
  const isWhole = bytes.length > 0 && bytes.length % 4 === 0 && bytes.length / 4 <= maxDimensions;
  if (!isWhole) return null;
  return normalized(Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4)));
}

function normalized(values: readonly number[]): Float32Array | null {
  // Divides by the largest number first: squares of very large or small numbers leave the range of a double.
  let largest = 0;
  for (const value of values) {
    if (typeof value !== "number" || !Number.isFinite(value)) return null;
    largest = Math.max(largest, Math.abs(value));
  }
  if (largest === 0) return null;
  let squares = 0;
  for (const value of values) squares += (value / largest) ** 2;
  const length = Math.sqrt(squares);
  return Float32Array.from(values, (value) => value / largest / length);
}
