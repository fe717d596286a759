import fc from "fast-check";
import { expect, test } from "vitest";
import { ExactIndex } from "./exact.ts";
import { decodeVector, encodeVector, readCodebook, trainCodebook } from "./quantize.ts";
import { clusteredVectors, randomVectors } from "./testing/vectors.ts";
import { shorten } from "./unit.ts";

const dimensions = 64;
const vectorsOf = (count: number, seed: number, size = dimensions): Float32Array[] =>
  Array.from({ length: count }, clusteredVectors(size, seed, count));
const invalid: unknown = expect.objectContaining({ code: "InvalidParams" });

test("hot keeps every bit, warm half of them", () => {
  const [vector] = vectorsOf(1, 1);
  expect(decodeVector(encodeVector(vector!, "hot"), "hot", dimensions, null)).toEqual(vector);
  const warm = encodeVector(vector!, "warm");
  expect(warm.byteLength).toBe(dimensions * 2);
  const decoded = decodeVector(warm, "warm", dimensions, null);
  for (const [at, value] of decoded.entries()) expect(Math.abs(value - vector![at]!)).toBeLessThan(2 ** -11);
});

test("bytes that begin at an odd place, as a database gives them, are decoded the same", () => {
  const [vector] = vectorsOf(1, 1);
  for (const tier of ["hot", "warm"] as const) {
    const encoded = encodeVector(vector!, tier);
    const shifted = new Uint8Array(encoded.length + 1);
    shifted.set(encoded, 1);
    expect(decodeVector(shifted.subarray(1), tier, dimensions, null)).toEqual(
      decodeVector(encoded, tier, dimensions, null),
    );
  }
});

test("the same vectors teach the same codebook, and it is the same again from its bytes", async () => {
  const vectors = vectorsOf(1_500, 2);
  const [one, other] = [await trainCodebook(vectors, dimensions), await trainCodebook(vectors, dimensions)];
  expect(one.bytes).toEqual(other.bytes);
  const again = readCodebook(one.bytes);
  const code = encodeVector(vectors[3]!, "cold", one);
  expect(code.byteLength).toBe((dimensions * 5) / 4);
  expect(again.encode(vectors[3]!)).toEqual(code);
  expect(decodeVector(code, "cold", dimensions, again)).toEqual(one.decode(code));
});

test.each([1, 3, 5, 7])("%d dimensions: the last part is a narrow one", async (size) => {
  const vectors = Array.from({ length: 1_100 }, randomVectors(size, 4));
  const codebook = await trainCodebook(vectors, size);
  for (const vector of vectors.slice(0, 50)) {
    const decoded = codebook.decode(codebook.encode(vector));
    for (const [at, value] of decoded.entries()) expect(Math.abs(value - vector[at]!)).toBeLessThan(0.05);
  }
});

test("vectors unlike all it has learned from are coded as well as can be, never wildly", async () => {
  const codebook = await trainCodebook(
    Array.from({ length: 1_100 }, () => new Float32Array(dimensions)),
    dimensions,
  );
  const [vector] = vectorsOf(1, 3);
  const decoded = codebook.decode(codebook.encode(vector!));
  expect(decoded.every((value) => Number.isFinite(value) && Math.abs(value) <= 1)).toBe(true);
});

test("too few vectors, wrong ones and wrong bytes are InvalidParams", async () => {
  const vectors = vectorsOf(1_100, 5);
  await expect(trainCodebook(vectors.slice(0, 1_000), dimensions)).rejects.toEqual(invalid);
  await expect(trainCodebook(vectors, dimensions + 1)).rejects.toEqual(invalid);
  await expect(
    trainCodebook([...vectors, new Float32Array(dimensions).fill(Number.NaN)], dimensions),
  ).rejects.toEqual(invalid);
  const codebook = await trainCodebook(vectors, dimensions);
  expect(() => codebook.encode(new Float32Array(3))).toThrow(invalid);
  expect(() => codebook.decode(new Uint8Array(3))).toThrow(invalid);
  expect(() => decodeVector(new Uint8Array(3), "hot", dimensions, null)).toThrow(invalid);
  expect(() => decodeVector(new Uint8Array(80), "cold", dimensions, null)).toThrow(invalid);
  expect(() => decodeVector(new Uint8Array(80), "cold", dimensions + 1, codebook)).toThrow(invalid);
});

test("bytes that are no codebook of this version are InvalidParams, whatever they are", async () => {
  const { bytes } = await trainCodebook(vectorsOf(1_100, 5, 4), 4);
  const changed = (at: number, value: number): Uint8Array => {
    const copy = bytes.slice();
    copy[at] = value;
    return copy;
  };
  const infinite = bytes.slice();
  new DataView(infinite.buffer).setFloat32(8, Infinity, true);
  for (const wrong of [bytes.subarray(1), changed(3, 2), changed(4, 200), infinite, new Uint8Array()])
    expect(() => readCodebook(wrong)).toThrow(invalid);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (random) => {
      expect(() => readCodebook(random)).toThrow(invalid);
    }),
  );
});

test("recall@10 lost where all vectors are cold is 0.02 at most", async () => {
  const size = 128;
  const [count, queries] = [4_000, 100];
  const all = vectorsOf(count + queries, 6, size);
  const codebook = await trainCodebook(all.slice(0, count), size);
  using right = new ExactIndex(size);
  using cold = new ExactIndex(size);
  for (const [at, vector] of all.slice(0, count).entries()) {
    right.put(at + 1, vector);
    cold.put(at + 1, codebook.decode(codebook.encode(vector)));
  }
  let shared = 0;
  for (const query of all.slice(count)) {
    const labels = new Set(right.search(query, 10).map(({ label }) => label));
    shared += cold.search(query, 10).filter(({ label }) => labels.has(label)).length;
  }
  expect(1 - shared / (10 * queries)).toBeLessThanOrEqual(0.02);
});

test("shorten cuts and makes a unit vector again", () => {
  expect([...shorten(Float32Array.of(3, 4, 12), 2)]).toEqual([Math.fround(0.6), Math.fround(0.8)]);
  expect([...shorten(Float32Array.of(0, 0, 1), 2)]).toEqual([0, 0]);
  for (const wrong of [0, 4, 1.5, Number.NaN])
    expect(() => shorten(new Float32Array(3), wrong)).toThrow(invalid);
});
