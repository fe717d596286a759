import fc from "fast-check";
import { expect, test } from "vitest";
import { ExactIndex } from "./exact.ts";
import { decodeVector, encodeVector, type Tier } from "./quantize.ts";
import { clusteredVectors } from "./testing/vectors.ts";

const dimensions = 64;
const vectorsOf = (count: number, seed: number, size = dimensions): Float32Array[] =>
  Array.from({ length: count }, clusteredVectors(size, seed, count));
const invalid: unknown = expect.objectContaining({ code: "InvalidParams" });
const atRest = (vector: Float32Array, tier: Tier): Float32Array =>
  decodeVector({ tier, bytes: encodeVector(vector, tier) });

test("hot vectors keep every bit, warm ones half of them", () => {
  const [vector] = vectorsOf(1, 1);
  expect(atRest(vector!, "hot")).toEqual(vector);
  expect(encodeVector(vector!, "warm")).toHaveLength(dimensions * 2);
  for (const [at, value] of atRest(vector!, "warm").entries())
    expect(Math.abs(value - vector![at]!)).toBeLessThan(2 ** -11);
});

test("bytes at an odd offset, as a database returns them, are decoded the same", () => {
  const [vector] = vectorsOf(1, 1);
  for (const tier of ["hot", "warm", "cold"] as const) {
    const bytes = encodeVector(vector!, tier);
    const shifted = new Uint8Array(bytes.length + 1);
    shifted.set(bytes, 1);
    expect(decodeVector({ tier, bytes: shifted.subarray(1) })).toEqual(decodeVector({ tier, bytes }));
  }
});

test("a cold number is off by at most a 250th of the largest of its 32, whatever the others are", () => {
  const numbers = fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 1, maxLength: 100 });
  fc.assert(
    fc.property(numbers, (values) => {
      const vector = Float32Array.from(values);
      expect(encodeVector(vector, "cold")).toHaveLength(values.length + 2 * Math.ceil(values.length / 32));
      const decoded = atRest(vector, "cold");
      expect(decoded).toHaveLength(values.length);
      for (const [at, value] of decoded.entries()) {
        const first = at - (at % 32);
        const most = Math.max(...values.slice(first, first + 32).map(Math.abs));
        expect(Math.abs(value - vector[at]!)).toBeLessThanOrEqual(most / 250 + 1e-5);
      }
    }),
  );
});

test.each([
  ["hot", [0, 3, 5]],
  ["warm", [0, 1, 3]],
  ["cold", [0, 1, 2, 35, 36, 69]],
] as const)("no %s vector has %j bytes: InvalidParams", (tier, lengths) => {
  for (const length of lengths)
    expect(() => decodeVector({ tier, bytes: new Uint8Array(length) })).toThrow(invalid);
});

test("with all vectors cold, recall@10 falls by at most 0.02", () => {
  const size = 128;
  const [count, queries] = [4_000, 100];
  const all = vectorsOf(count + queries, 6, size);
  using right = new ExactIndex(size);
  using cold = new ExactIndex(size);
  for (const [at, vector] of all.slice(0, count).entries()) {
    right.put(at + 1, vector);
    cold.put(at + 1, atRest(vector, "cold"));
  }
  let shared = 0;
  for (const query of all.slice(count)) {
    const labels = new Set(right.search(query, 10).map(({ label }) => label));
    shared += cold.search(query, 10).filter(({ label }) => labels.has(label)).length;
  }
  expect(1 - shared / (10 * queries)).toBeLessThanOrEqual(0.02);
});
