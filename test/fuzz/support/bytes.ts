import fc from "fast-check";

/** The places where a stream is cut; each number is taken modulo the stream's length. */
export const cuts: fc.Arbitrary<number[]> = fc.oneof(
  fc.array(fc.nat(), { maxLength: 30 }),
  // A byte at a time, from some place on.
  fc.nat(200).map((start) => Array.from({ length: 300 }, (_, index) => start + index)),
);

/** Returns the stream in pieces, cut at these places. */
export function chunked(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].toSorted((a, b) => a - b);
  return [0, ...ends].map((start, index) => bytes.subarray(start, ends[index] ?? bytes.length));
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}
