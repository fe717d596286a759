import { EmbeddingError } from "./port.ts";

/**
 * Returns the vectors of an answer in the order of the texts that were sent, with the length that the model
 * gave them.
 */
export function vectorsOf(body: string, count: number, from: string): ArrayLike<number>[] {
  const wrong = (what: string): EmbeddingError =>
    new EmbeddingError(`${from} answered ${what}, which is not an answer of /v1/embeddings.`, {
      isRetryable: true,
    });
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch (error) {
    throw new EmbeddingError(wrong("with text that is not JSON").message, {
      isRetryable: true,
      cause: error,
    });
  }
  const data = field(answer, "data");
  if (!Array.isArray(data)) throw wrong('without a list "data"');
  if (data.length !== count) throw wrong(`with ${data.length} vectors for ${count} texts`);
  const vectors: ArrayLike<number>[] = [];
  for (const [position, entry] of data.entries()) {
    // Servers that leave out the index answer in order.
    const index = field(entry, "index") ?? position;
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= count) {
      throw wrong("with an index that no text has");
    }
    if (vectors[index] !== undefined) throw wrong(`twice for text ${index + 1}`);
    const vector = numbersOf(field(entry, "embedding"));
    if (vector === null) throw wrong(`without numbers for text ${index + 1}`);
    vectors[index] = vector;
  }
  return vectors;
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

/** Returns the vector from a list of numbers or from little-endian f32 in base64; null if it is neither. */
function numbersOf(embedding: unknown): ArrayLike<number> | null {
  if (Array.isArray(embedding)) {
    return embedding.every((each) => typeof each === "number") ? embedding : null;
  }
  if (typeof embedding !== "string" || !/^[A-Za-z0-9+/]+={0,2}$/u.test(embedding)) return null;
  const bytes = Buffer.from(embedding, "base64");
  if (bytes.length % 4 !== 0) return null;
  return Float32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
}
