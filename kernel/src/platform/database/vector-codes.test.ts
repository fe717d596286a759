import { expect, test } from "vitest";
import { pseudoRandom } from "../../base/pseudo-random.ts";
import { bytesOfVector } from "./similarity.ts";
import { CodeSearch, codesOf } from "./vector-codes.ts";

const uniform = pseudoRandom(7);
const randomVector = (dimensions: number, isSparse: boolean): Float32Array =>
  Float32Array.from({ length: dimensions }, () =>
    isSparse && uniform() < 0.8 ? 0 : uniform() + uniform() + uniform() - 1.5,
  );
const signed = (vector: Float32Array): Int8Array => new Int8Array(bytesOfVector(vector).buffer);
const cosine = (one: Int8Array, other: Int8Array): number => {
  let [product, ones, others] = [0, 0, 0];
  for (const [at, value] of one.entries()) {
    const next = other[at] ?? 0;
    product += value * next;
    ones += value * value;
    others += next * next;
  }
  return product === 0 ? 0 : product / Math.sqrt(ones * others);
};
const joined = (vectors: readonly Int8Array[]): Int8Array =>
  Int8Array.from(vectors.flatMap((each) => [...each]));

test.each([
  [384, false],
  [384, true],
  [1_000, false],
  // No multiple of the numbers in a byte.
  [64, false],
])("an estimate by the codes of %i numbers, sparse: %s, is near the similarity", (dimensions, isSparse) => {
  const vectors = Array.from({ length: 50 }, () => signed(randomVector(dimensions, isSparse)));
  const codes = codesOf(joined(vectors), vectors.length);
  const query = vectors[7]!.map((value, at) => (at % 2 === 0 ? value : (vectors[9]![at] ?? 0)));
  const estimates: number[] = [];
  new CodeSearch(query).each(codes, vectors.length, (index, similarity) => (estimates[index] = similarity));
  expect(estimates).toHaveLength(vectors.length);
  const errors = vectors.map((vector, index) => Math.abs((estimates[index] ?? NaN) - cosine(query, vector)));
  expect(Math.max(...errors)).toBeLessThan(2.5 / Math.sqrt(dimensions));
  const [best] = estimates.map((value, index) => [value, index] as const).toSorted((a, b) => b[0] - a[0]);
  expect([7, 9]).toContain(best?.[1]);
});

test("a vector is estimated to be like itself, and one without a direction like nothing", () => {
  const vector = signed(randomVector(384, false));
  const none = new Int8Array(384);
  const estimates: number[] = [];
  const codes = codesOf(joined([vector, none]), 2);
  new CodeSearch(vector).each(codes, 2, (_index, similarity) => estimates.push(similarity));
  expect(estimates[0]).toBeCloseTo(1, 5);
  expect(estimates[1]).toBe(0);
  new CodeSearch(none).each(codes, 2, () => expect.unreachable());
  expect(codesOf(new Int8Array(0), 0)).toHaveLength(0);
});

test("codes of vectors with other dimensions are left out", () => {
  const codes = codesOf(signed(randomVector(64, false)), 1);
  new CodeSearch(signed(randomVector(384, false))).each(codes, 1, () => expect.unreachable());
});
