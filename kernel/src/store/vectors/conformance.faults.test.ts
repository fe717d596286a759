import { readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { Engines } from "./engines.ts";
import { encodeHalf } from "./half.ts";
import type { EngineName } from "../../memory-contract/store-settings.ts";
import type { IndexWatermark, VectorIndex } from "./port.ts";
import { clusteredVectors, randomVectors, unit } from "./testing/vectors.ts";

const engines = new Engines();
const watermark: IndexWatermark = { seq: 7, hash: "ab".repeat(32), embedder: "hash 64" };
const dimensions = 64;
/** The precision of similarities at half precision. */
const precision = 3;

const isFaissThere = await engines.isAvailable("faiss");
describe.each<EngineName>(["exact", "usearch", "faiss"])("%s", (engine) => {
  if (engine === "faiss" && !isFaissThere) {
    const reason = engines.whyUnavailable("faiss");
    test.skip(`not tested: ${reason} npm run build:faiss may build the addon`, () => undefined);
    return;
  }

  const create = (size = dimensions): Promise<VectorIndex> =>
    engines.createIndex({ engine, dimensions: size });
  const labelsOf = (found: readonly { label: number }[]): number[] => found.map(({ label }) => label);
  /** Large enough that a graph answers, not a scan of vectors outside it. */
  const many = 3_000;
  async function filled(count = many, seed = 1): Promise<{ index: VectorIndex; vectors: Float32Array[] }> {
    const index = await create();
    const vectors = Array.from({ length: count }, clusteredVectors(dimensions, seed, count));
    for (const [at, vector] of vectors.entries()) index.put(at + 1, vector);
    return { index, vectors };
  }
  async function reloaded(index: VectorIndex): Promise<VectorIndex> {
    const folder = await temporaryFolder();
    await index.save(folder, watermark);
    const loaded = await engines.loadIndex(folder, index.shape);
    if (loaded.index === null) throw new Error(loaded.reason);
    expect(loaded.watermark).toEqual(watermark);
    return loaded.index;
  }

  /** Labels of the vectors that are not found as nearest to themselves. */
  const unreachable = (index: VectorIndex, vectors: readonly Float32Array[]): number[] =>
    vectors.flatMap((vector, at) => (index.search(vector, 1)[0]?.label === at + 1 ? [] : [at + 1]));

  test("an empty index finds nothing and ignores removals", async () => {
    using index = await create();
    index.remove(1);
    expect(index.size).toBe(0);
    expect(index.search(new Float32Array(dimensions).fill(1), 10)).toEqual([]);
    expect(index.vectorOf(1)).toBeNull();
  });

  test("one vector is found with its cosine, whatever its length and the query's", async () => {
    using index = await create(3);
    index.put(5, Float32Array.of(0, 3, 0));
    expect(index.search(Float32Array.of(0, 0.2, 0), 10)).toEqual([{ label: 5, similarity: 1 }]);
    const [found] = index.search(Float32Array.of(1, -1, 0), 1);
    expect(found?.similarity).toBeCloseTo(-Math.SQRT1_2, precision);
    expect([...index.vectorOf(5)!]).toEqual([0, 1, 0]);
  });

  test("putting a label again replaces its vector, and the size stays", async () => {
    const { index, vectors } = await filled();
    const opposite = vectors[9]!.map((value) => -value);
    index.put(10, opposite);
    expect(index.size).toBe(many);
    expect(index.search(opposite, 1)).toEqual([{ label: 10, similarity: expect.closeTo(1, precision) }]);
    expect(labelsOf(index.search(vectors[9]!, 20))).not.toContain(10);
    index[Symbol.dispose]();
  });

  test("removed vectors are not found, and the others are, also after repeated and unknown removals", async () => {
    const { index, vectors } = await filled();
    index.remove(10);
    index.remove(10);
    index.remove(99_999);
    expect(index.size).toBe(many - 1);
    expect(labelsOf(index.search(vectors[9]!, many))).not.toContain(10);
    expect(index.search(vectors[10]!, 1)[0]?.label).toBe(11);
    index[Symbol.dispose]();
  });

  test("after a purge no removed vector is saved; the others are found, before the graph has grown again and after", async () => {
    const { index, vectors } = await filled();
    const half = new Uint16Array(dimensions);
    encodeHalf(unit(vectors[9]!), half, 0);
    const lies = [unit(vectors[9]!), half].map(({ buffer }) => Buffer.from(buffer, 0, 32));
    const savedHas = async (): Promise<boolean> => {
      const folder = await temporaryFolder();
      await index.save(folder, watermark);
      const saved = await readFile(join(folder, `knowledge.${engine}`));
      return lies.some((bytes) => saved.includes(bytes));
    };
    expect(await savedHas()).toBe(true);
    index.remove(10);
    index.purge();
    expect(await savedHas()).toBe(false);
    const others = (): void => {
      expect(index.size).toBe(many - 1);
      for (const label of [1, 9, 11, many])
        expect(index.search(vectors[label - 1]!, 1)[0]?.label).toBe(label);
    };
    others();
    using again = await reloaded(index);
    for (const one of [index, again]) while (one.grow()) others();
    expect(unreachable(again, vectors)).toEqual([10]);
    expect(labelsOf(again.search(vectors[10]!, 1))).toEqual([11]);
    expect(await savedHas()).toBe(false);
    index[Symbol.dispose]();
  });

  test("each of 3,000 clustered vectors is found by itself: none is unreachable in the graph", async () => {
    const { index, vectors } = await filled();
    expect(unreachable(index, vectors)).toEqual([]);
    index[Symbol.dispose]();
  });

  test("duplicates are all found, the smaller label first", async () => {
    const { index } = await filled();
    const [twin] = Array.from({ length: 1 }, randomVectors(dimensions, 99));
    for (const label of [70_003, 70_001, 70_002]) index.put(label, twin!);
    expect(labelsOf(index.search(twin!, 3))).toEqual([70_001, 70_002, 70_003]);
    index[Symbol.dispose]();
  });

  test.each(["before", "among", "after"])(
    "2,000 equal vectors, %s the others, do not hide them",
    async (when) => {
      using index = await create();
      const vectors = Array.from({ length: many }, clusteredVectors(dimensions, 1, many));
      const twins = Array.from({ length: 2_000 }, (_, at) => ({ label: 10_001 + at, vector: vectors[0]! }));
      const others = vectors.map((vector, at) => ({ label: at + 1, vector }));
      const all = {
        before: [...twins, ...others],
        among: others.flatMap((other, at) => [other, ...twins.slice(at, at + 1)]),
        after: [...others, ...twins],
      }[when]!;
      for (const { label, vector } of all) index.put(label, vector);
      const missed = others
        .slice(1)
        .filter(({ label, vector }) => index.search(vector, 1)[0]?.label !== label);
      // An approximate engine may miss one in a hundred.
      expect(missed.length).toBeLessThanOrEqual(many / 100);
      const found = index.search(vectors[0]!, 10);
      expect(found.every(({ similarity }) => similarity > 0.999)).toBe(true);
    },
  );

  test("a zero vector is similar to nothing, and a zero query to everything equally", async () => {
    const { index, vectors } = await filled();
    index.put(many + 1, new Float32Array(dimensions));
    const all = index.search(vectors[0]!, many + 1);
    expect(all.find(({ label }) => label === many + 1)?.similarity).toBe(0);
    const found = index.search(new Float32Array(dimensions), 5);
    expect(found.map(({ similarity }) => similarity)).toEqual([0, 0, 0, 0, 0]);
    index[Symbol.dispose]();
  });

  test.each([
    ["too short", new Float32Array(dimensions - 1)],
    ["too long", new Float32Array(dimensions * 2)],
    ["not a number", new Float32Array(dimensions).fill(Number.NaN)],
    ["infinite", Float32Array.from({ length: dimensions }, (_, at) => (at === 3 ? Infinity : 1))],
  ])("a vector that is %s is InvalidParams, to put and to search, and changes nothing", async (_, wrong) => {
    using index = await create();
    index.put(1, new Float32Array(dimensions).fill(1));
    expect(() => index.put(1, wrong)).toThrow(expect.objectContaining({ code: "InvalidParams" }));
    expect(() => index.search(wrong, 1)).toThrow(expect.objectContaining({ code: "InvalidParams" }));
    expect(labelsOf(index.search(new Float32Array(dimensions).fill(1), 5))).toEqual([1]);
  });

  test.each([0, -1, 1.5, Number.NaN, Infinity, 2 ** 53])("%d is not a valid label", async (label) => {
    using index = await create();
    expect(() => index.put(label, new Float32Array(dimensions))).toThrow(
      expect.objectContaining({ code: "InvalidParams" }),
    );
    expect(index.size).toBe(0);
  });

  test("labels up to 2^53 - 1 are returned unchanged, also from the disk", async () => {
    using index = await create();
    for (const label of [1, 2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER])
      index.put(
        label,
        Float32Array.from({ length: dimensions }, (_, at) => Math.sin(label * (at + 1))),
      );
    using again = await reloaded(index);
    for (const label of [1, 2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) {
      expect(index.search(index.vectorOf(label)!, 1)[0]?.label).toBe(label);
      expect(again.search(index.vectorOf(label)!, 1)[0]?.label).toBe(label);
    }
  });

  test("numbers as large and as small as 32 bits can be", async () => {
    using index = await create(2);
    index.put(1, Float32Array.of(3e38, 3e38));
    index.put(2, Float32Array.of(1e-40, 0));
    expect(index.search(Float32Array.of(1e-40, 1e-40), 1)[0]?.label).toBe(1);
    expect(index.search(Float32Array.of(3e38, 0), 1)[0]).toEqual({ label: 2, similarity: 1 });
  });

  test.each([
    ["half", 2],
    ["one in thirty", 30],
    ["one in a thousand", 1_000],
  ])("a filter that lets %s through is answered in full, and with what is nearest", async (_, every) => {
    const { index, vectors } = await filled();
    const accepts = (label: number): boolean => label % every === 0;
    const [query] = Array.from({ length: 1 }, clusteredVectors(dimensions, 5, many));
    const right = vectors
      .map((vector, at) => ({ label: at + 1, similarity: dot(unit(vector), query!) }))
      .filter(({ label }) => accepts(label))
      .toSorted((one, other) => other.similarity - one.similarity)
      .slice(0, 10);
    const found = index.search(query!, 10, accepts);
    expect(found).toHaveLength(Math.min(10, Math.floor(many / every)));
    expect(found.every(({ label }) => accepts(label))).toBe(true);
    const shared = found.filter(({ label }) => right.some((one) => one.label === label));
    expect(shared.length).toBeGreaterThanOrEqual(found.length - 1);
    expect(index.search(query!, 10, () => false)).toEqual([]);
    index[Symbol.dispose]();
  });

  test("asked for more than everything, it returns all, best first", async () => {
    const { index, vectors } = await filled();
    for (const count of [many, many * 10, Infinity]) {
      const found = index.search(vectors[0]!, count);
      expect(found).toHaveLength(many);
      expect(new Set(labelsOf(found)).size).toBe(many);
      expect(found.every((one, at) => at === 0 || found[at - 1]!.similarity >= one.similarity)).toBe(true);
    }
    for (const count of [0, -1, Number.NaN]) expect(index.search(vectors[0]!, count)).toEqual([]);
    index[Symbol.dispose]();
  });

  test("after 10,000 removals with searches between them, what is left is found", async () => {
    const count = 12_000;
    const { index, vectors } = await filled(count);
    for (let label = 1; label <= 10_000; label++) {
      index.remove(label);
      if (label % 500 !== 0) continue;
      expect(index.size).toBe(count - label);
      const [found] = index.search(vectors[label]!, 1);
      expect(found).toEqual({ label: label + 1, similarity: expect.closeTo(1, precision) });
    }
    // A graph is approximate: one in twenty of the remaining vectors may be unreachable.
    const left = Array.from({ length: 20 }, (_, step) => 10_000 + step * 97);
    const reached = left.filter((at) => index.search(vectors[at]!, 1)[0]?.label === at + 1);
    expect(reached.length).toBeGreaterThanOrEqual(left.length - 1);
    for (let label = 10_001; label <= count; label++) index.remove(label);
    expect(index.search(vectors[0]!, 10)).toEqual([]);
    index.put(1, vectors[0]!);
    expect(labelsOf(index.search(vectors[0]!, 10))).toEqual([1]);
    index[Symbol.dispose]();
  });

  test("save → load → search is the same search; and it grows and forgets after that", async () => {
    const { index, vectors } = await filled();
    using again = await reloaded(index);
    expect(again.size).toBe(many);
    for (let at = 0; at < many; at += 211)
      expect(again.search(vectors[at]!, 10)).toEqual(index.search(vectors[at]!, 10));
    for (let label = many + 1; label <= many + 600; label++) again.put(label, vectors[label % many]!);
    for (let label = 1; label <= 600; label++) again.remove(label);
    expect(again.size).toBe(many);
    expect(again.search(vectors[700]!, 1)[0]?.similarity).toBeCloseTo(1, precision);
    index[Symbol.dispose]();
  });

  test("remove → save → load → remove → put → save → load, round after round", async () => {
    const random = clusteredVectors(dimensions, 3, many);
    let { index } = await filled(2_000);
    const expected = new Set(Array.from({ length: 2_000 }, (_, at) => at + 1));
    for (let round = 0; round < 6; round++) {
      const first = 1 + round * 300;
      for (let label = first; label < first + 300; label++) {
        index.remove(label);
        expected.delete(label);
        index.put(10_000 + label, random());
        expected.add(10_000 + label);
      }
      const again = await reloaded(index);
      index[Symbol.dispose]();
      index = again;
      expect(new Set(labelsOf(index.search(random(), Infinity)))).toEqual(expected);
      for (const { label } of index.search(random(), 10)) expect(expected.has(label)).toBe(true);
    }
    index[Symbol.dispose]();
  });

  test("a vector that is added during a save is not in the file, and is in the index", async () => {
    const { index, vectors } = await filled(1_000);
    const folder = await temporaryFolder();
    const saving = index.save(folder, watermark);
    index.remove(1);
    for (let label = 2_001; label <= 2_600; label++) index.put(label, vectors[label - 2_001]!);
    await saving;
    const loaded = await engines.loadIndex(folder, index.shape);
    expect(loaded.index?.size).toBe(1_000);
    expect(labelsOf(loaded.index?.search(vectors[0]!, 1) ?? [])).toEqual([1]);
    expect(loaded.index?.vectorOf(2_001)).toBeNull();
    expect(index.size).toBe(1_599);
    index[Symbol.dispose]();
  });

  test("recall@10 among 12,000 clustered vectors is at least 0.98", async () => {
    const source = clusteredVectors(dimensions, 11, 12_000);
    expect(await recallAt10(await create(), source, 12_000)).toBeGreaterThanOrEqual(0.98);
  });

  // No graph is good for uniformly random directions; the room's README says how good it is.
  test("recall@10 among 12,000 random vectors of few dimensions is at least 0.9", async () => {
    const source = randomVectors(24, 12);
    expect(await recallAt10(await create(24), source, 12_000)).toBeGreaterThanOrEqual(0.9);
  });

  test("any sequence of changes gives the same vectors as the exact engine", async () => {
    const label = fc.integer({ min: 1, max: 40 });
    const change = fc.oneof(
      fc.record({ kind: fc.constant("put" as const), label, seed: fc.integer({ min: 1, max: 9 }) }),
      fc.record({ kind: fc.constant("remove" as const), label }),
      fc.record({ kind: fc.constant("fill" as const), label, count: fc.constantFrom(1, 300, 700) }),
      fc.record({ kind: fc.constant("clear" as const), label, count: fc.constantFrom(1, 300, 700) }),
      fc.record({ kind: fc.constant("reload" as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 20 }), async (changes) => {
        let index = await create(8);
        const model = new Map<number, Float32Array>();
        const put = (of: number, seed: number): void => {
          const vector = randomVectors(8, seed)();
          index.put(of, vector);
          model.set(of, vector);
        };
        for (const step of changes) {
          if (step.kind === "put") put(step.label, step.seed);
          else if (step.kind === "reload") index = await reloaded(index);
          else if (step.kind === "remove") {
            index.remove(step.label);
            model.delete(step.label);
          } else
            for (let at = 0; at < step.count; at++) {
              const of = step.label * 100 + at;
              if (step.kind === "fill") put(of, of);
              else {
                index.remove(of);
                model.delete(of);
              }
            }
        }
        expect(index.size).toBe(model.size);
        const query = randomVectors(8, 1_000)();
        const right = [...model]
          .map(([of, vector]) => ({ label: of, similarity: dot(vector, query) }))
          .toSorted((one, other) => other.similarity - one.similarity || one.label - other.label);
        const found = index.search(query, 5);
        expect(found).toHaveLength(Math.min(5, model.size));
        for (const [at, one] of found.entries()) {
          expect(one.similarity).toBeCloseTo(dot(model.get(one.label)!, query), 2);
          expect(one.similarity).toBeCloseTo(right[at]!.similarity, 1);
        }
        expect(new Set(labelsOf(index.search(query, Infinity)))).toEqual(new Set(model.keys()));
        index[Symbol.dispose]();
      }),
      { numRuns: 25, seed: 20_261_121 },
    );
  });

  async function recallAt10(index: VectorIndex, source: () => Float32Array, count: number): Promise<number> {
    using exact = await engines.createIndex({ ...index.shape, engine: "exact" });
    for (let label = 1; label <= count; label++) {
      const vector = source();
      index.put(label, vector);
      exact.put(label, vector);
    }
    let shared = 0;
    for (let query = 0; query < 50; query++) {
      const vector = source();
      const right = new Set(labelsOf(exact.search(vector, 10)));
      shared += index.search(vector, 10).filter(({ label }) => right.has(label)).length;
    }
    index[Symbol.dispose]();
    return shared / 500;
  }
});

function dot(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, at) => sum + value * other[at]!, 0);
}
