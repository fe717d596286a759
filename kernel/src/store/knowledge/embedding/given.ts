import { invalidParams } from "../../../base/errors.ts";

/**
 * Embeddings that agents bring. They are of a model only the agent knows, so they are never compared with what the
 * memory's embedder makes: they have a space of their own beside it. `similar_to` asks the embedder's, `embedding` asks
 * this one; an item may stand in both.
 *
 * The oldest item that brings one sets the dimensions for all. Another number is refused with InvalidParams that names
 * the expected one, when it is added as when it is asked for. Where the journal holds others all the same (two first
 * ones at once), they are passed over and their items are found by their words.
 */
const maxGivenDimensions = 4_096;

/** The space of embeddings of so many dimensions that were brought. */
export const givenSpace = (dimensions: number): string => `given:${dimensions}`;

/** The dimensions of such a space; null for the embedder's. */
export function givenDimensions(space: string): number | null {
  const match = /^given:(\d+)$/.exec(space);
  return match === null ? null : Number(match[1]);
}

/** A unit vector. Throws InvalidParams for no numbers, numbers that are not finite, and nothing but zeros. */
export function unitVector(embedding: readonly number[]): Float32Array {
  if (embedding.length === 0 || embedding.length > maxGivenDimensions) {
    throw invalidParams(
      `An embedding has 1 to ${maxGivenDimensions.toLocaleString("en")} numbers; this one has ${embedding.length}.`,
    );
  }
  const unit = normalized(embedding);
  if (unit === null) throw invalidParams("An embedding is of finite numbers that are not all 0.");
  return unit;
}

/** As a record of the journal has it: little-endian f32, base64. Null for what is no embedding. */
export function decodeGiven(base64: unknown): Float32Array | null {
  if (typeof base64 !== "string") return null;
  const bytes = Buffer.from(base64, "base64");
  const isWhole = bytes.length > 0 && bytes.length % 4 === 0 && bytes.length / 4 <= maxGivenDimensions;
  if (!isWhole) return null;
  return normalized(Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4)));
}

function normalized(values: readonly number[]): Float32Array | null {
  // By the largest first: squares of very large or small numbers leave the range of a double.
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
