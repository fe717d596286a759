/** Runs in plain Node, on the module with its own memory. The sandbox's tests compare the guest's form with it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { VectorSet } from "../index.ts";
import "../testing/index.ts";
import { clustered, cosine, exactly } from "./testing/samples.ts";

const labels = (found: readonly { label: number }[]): number[] => found.map(({ label }) => label);

function filled(vectors: readonly Float32Array[], dimensions: number): VectorSet {
  const set = new VectorSet({ dimensions });
  vectors.forEach((vector, label) => set.add(label, vector));
  return set;
}

/** Returns the share of the ten nearest vectors that was found. */
function recall(set: VectorSet, vectors: readonly Float32Array[], queries: readonly Float32Array[]): number {
  const alive = vectors.map((vector, label) => (set.has(label) ? vector : vector.map((value) => -value)));
  let found = 0;
  for (const query of queries) {
    const truth = new Set(exactly(alive, query, 10));
    found += set.search(query, 10).filter(({ label }) => truth.has(label)).length;
  }
  return found / (10 * queries.length);
}

describe.each([
  { count: 2_000, dimensions: 64, clusters: 40 },
  { count: 10_000, dimensions: 128, clusters: 100 },
])("among $count clustered vectors of $dimensions dimensions", ({ count, dimensions, clusters }) => {
  const all = clustered(count + 30, dimensions, clusters, 7);
  const vectors = all.slice(0, count);
  const queries = all.slice(count);
  const set = filled(vectors, dimensions);

  it("finds at least 95 of a hundred true neighbours", () => {
    expect(set.size).toBe(count);
    expect(recall(set, vectors, queries)).toBeGreaterThanOrEqual(0.95);
  });

  it("still finds them after a third was removed, and after it was added again", () => {
    for (let label = 0; label < count; label += 3) expect(set.remove(label)).toBe(true);
    expect(set.size).toBe(count - Math.ceil(count / 3));
    expect(queries.flatMap((query) => labels(set.search(query, 50))).some((label) => label % 3 === 0)).toBe(
      false,
    );
    expect(recall(set, vectors, queries)).toBeGreaterThanOrEqual(0.95);
    vectors.forEach((vector, label) => label % 3 === 0 && set.add(label, vector));
    expect(set.size).toBe(count);
    expect(recall(set, vectors, queries)).toBeGreaterThanOrEqual(0.95);
  });

  it("is restored from bytes and then behaves exactly as before", () => {
    const again = VectorSet.fromBytes(set.toBytes());
    expect({ size: again.size, dimensions: again.dimensions }).toEqual({ size: count, dimensions });
    for (const one of [set, again]) {
      for (let label = 0; label < 40; label++) one.remove(label * 7);
      queries.forEach((query, index) => one.add(count + index, query));
    }
    expect(Buffer.from(again.toBytes()).equals(Buffer.from(set.toBytes()))).toBe(true);
    for (const query of queries.slice(0, 10)) expect(again.search(query)).toEqual(set.search(query));
  });
});

it("the same calls give the same bytes, however often it is done", () => {
  const vectors = clustered(700, 24, 9, 3);
  const [first, second] = [filled(vectors, 24), filled(vectors, 24)];
  expect(Buffer.from(first.toBytes()).equals(Buffer.from(second.toBytes()))).toBe(true);
});

describe("operations on a small set", () => {
  const coordinate = fc.integer({ min: -1, max: 1 });
  const vector = fc
    .array(coordinate, { minLength: 3, maxLength: 3 })
    .filter((one) => one.some((value) => value !== 0));
  const step = fc.oneof(
    fc.record({ kind: fc.constant("add" as const), label: fc.nat(30), vector }),
    fc.record({ kind: fc.constant("remove" as const), label: fc.nat(30) }),
    fc.record({ kind: fc.constant("search" as const), vector, count: fc.integer({ min: 1, max: 40 }) }),
    fc.record({ kind: fc.constant("save" as const) }),
  );

  // So few directions that many vectors are equal: their chains are part of every step.
  it("is as if all were compared, whatever comes in which order", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        let set = new VectorSet({ dimensions: 3, m: 2, efConstruction: 4 });
        const model = new Map<number, readonly number[]>();
        for (const one of steps) {
          if (one.kind === "add") {
            set.add(one.label, one.vector);
            model.set(one.label, one.vector);
          } else if (one.kind === "remove") expect(set.remove(one.label)).toBe(model.delete(one.label));
          else if (one.kind === "save") set = VectorSet.fromBytes(set.toBytes());
          else checkSearch(set, model, one.vector, one.count);
          expect(set.size).toBe(model.size);
        }
      }),
      { numRuns: 200 },
    );
  });

  /** Which of equally similar ones comes first is nobody's promise. */
  function checkSearch(
    set: VectorSet,
    model: ReadonlyMap<number, readonly number[]>,
    query: readonly number[],
    count: number,
  ): void {
    const found = set.search(query, count);
    expect(found).toHaveLength(Math.min(count, model.size));
    expect(new Set(labels(found)).size).toBe(found.length);
    const truth = [...model.values()].map((one) => cosine(one, query)).toSorted((a, b) => b - a);
    found.forEach(({ label, similarity }, index) => {
      expect(similarity).toBeCloseTo(truth[index] ?? Number.NaN, 5);
      expect(similarity).toBeCloseTo(cosine(model.get(label) ?? [], query), 5);
    });
  }
});

it("a thousand equal vectors hide none of the others", () => {
  const others = clustered(3_000, 16, 30, 5);
  const set = filled(others, 16);
  for (let index = 0; index < 1_000; index++) set.add(10_000 + index, new Float32Array(16).fill(1));
  expect(labels(set.search(new Float32Array(16).fill(1), 1_000)).every((label) => label >= 10_000)).toBe(
    true,
  );
  for (const query of others.slice(0, 50)) expect(set.search(query, 1)[0]?.similarity).toBeCloseTo(1, 5);
  for (let index = 0; index < 1_000; index++) expect(set.remove(10_000 + index)).toBe(true);
  expect(set.size).toBe(3_000);
});

describe("what is refused", () => {
  const set = new VectorSet({ dimensions: 2, capacity: 3 });
  const refuses = (code: string, run: () => unknown): void => {
    expect(run).toThrow(expect.objectContaining({ name: "LaresError", code }) as Error);
  };

  it.each([
    { dimensions: 0 },
    { dimensions: 4097 },
    { dimensions: 1.5 },
    { dimensions: 2, capacity: 0 },
    { dimensions: 2, capacity: 2 ** 20 + 1 },
    { dimensions: 2, m: 1 },
    { dimensions: 2, m: 65 },
    { dimensions: 2, efConstruction: 1001 },
    { dimensions: 2, efSearch: Number.NaN },
  ])("options: $dimensions $capacity $m $efConstruction $efSearch", (options) => {
    refuses("InvalidParams", () => new VectorSet(options));
  });

  it.each([
    [[0, 0]],
    [[1]],
    [[1, 2, 3]],
    [[Number.NaN, 1]],
    [[Number.POSITIVE_INFINITY, 1]],
    [[1e39, 1]],
    [[]],
  ])("the vector %j, to add and to search", (vector) => {
    refuses("InvalidParams", () => set.add(1, vector));
    refuses("InvalidParams", () => set.search(vector));
    expect(set.size).toBe(0);
  });

  it.each([-1, 0.5, 2 ** 32, Number.NaN])("the label %d", (label) => {
    refuses("InvalidParams", () => set.add(label, [1, 0]));
    refuses("InvalidParams", () => set.remove(label));
  });

  it.each([0, 1001, 2.5])("%d results", (count) => {
    refuses("InvalidParams", () => set.search([1, 0], count));
  });

  it("more than its capacity, while existing vectors may be replaced", () => {
    for (let label = 0; label < 3; label++) set.add(label, [1, label]);
    refuses("LimitExceeded", () => set.add(3, [1, 1]));
    set.add(2, [-1, 0]);
    expect(labels(set.search([-1, 0], 1))).toEqual([2]);
    refuses("InvalidParams", () => set.add(2, [0, 0]));
    expect(labels(set.search([-1, 0], 1))).toEqual([2]);
    set.remove(0);
    set.add(4_294_967_295, [0, -1]);
    expect(labels(set.search([0, -1], 1))).toEqual([4_294_967_295]);
    refuses("InvalidParams", () => VectorSet.fromBytes(set.toBytes(), { capacity: 2 }));
  });

  it("takes the smallest and the largest numbers that f32 has", () => {
    const extremes = new VectorSet({ dimensions: 2 });
    extremes.add(1, [3.4e38, 0]);
    extremes.add(2, [0, 1e-45]);
    expect(extremes.search([1e-45, 0], 2)).toEqual([
      { label: 1, similarity: 1 },
      { label: 2, similarity: 0 },
    ]);
  });
});
