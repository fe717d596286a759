import { expect, test } from "vitest";
import { type EngineLoaders, Engines } from "./engines.ts";
import type { GraphEngine } from "./graph.ts";
import type { EngineChoice, EngineName } from "../../memory-contract/store-settings.ts";

const there = (name: GraphEngine["name"]) => (): Promise<GraphEngine> =>
  Promise.resolve({ name, version: "1", create: never, read: never, mostBytesPerVector: () => 0 });
const missing = (): Promise<GraphEngine> =>
  Promise.reject(new Error("Could not locate the bindings file.\nTried: …"));

const both: EngineLoaders = { usearch: there("usearch"), faiss: there("faiss") };
const onlyUsearch: EngineLoaders = { ...both, faiss: missing };
const none: EngineLoaders = { usearch: missing, faiss: missing };

test.each<[EngineLoaders, EngineChoice, number, EngineName | null, EngineName]>([
  [both, "auto", 9_999, null, "exact"],
  [both, "auto", 10_000, null, "faiss"],
  [both, "auto", 9_999, "exact", "exact"],
  [both, "auto", 10_000, "exact", "faiss"],
  [both, "auto", 9_999, "faiss", "faiss"],
  [both, "auto", 7_500, "faiss", "faiss"],
  [both, "auto", 7_499, "faiss", "exact"],
  [both, "auto", 20_000, "usearch", "faiss"],
  [onlyUsearch, "auto", 10_000, null, "usearch"],
  [onlyUsearch, "auto", 9_000, "usearch", "usearch"],
  [none, "auto", 1_000_000, null, "exact"],
  [both, "exact", 1_000_000, "faiss", "exact"],
  [both, "usearch", 1, "exact", "usearch"],
  [both, "faiss", 1, null, "faiss"],
  [onlyUsearch, "faiss", 20_000, null, "usearch"],
  [onlyUsearch, "faiss", 20, null, "exact"],
])("%#: %o, %s of %d after %s is %s", async (loaders, choice, size, current, right) => {
  expect(await new Engines(loaders).choose(choice, size, current)).toBe(right);
});

test("a library that cannot be loaded is tried once, and its reason is kept", async () => {
  let tried = 0;
  const engines = new Engines({ ...both, faiss: () => (tried++, missing()) });
  expect(engines.whyUnavailable("faiss")).toBeNull();
  expect([await engines.isAvailable("faiss"), await engines.isAvailable("faiss")]).toEqual([false, false]);
  expect(tried).toBe(1);
  expect(engines.whyUnavailable("faiss")).toBe("Could not locate the bindings file.");
  const shape = { engine: "faiss", dimensions: 3 } as const;
  await expect(engines.createIndex(shape)).rejects.toMatchObject({ code: "StorageError" });
  expect(await engines.loadIndex("/nowhere", shape)).toMatchObject({ index: null });
});

test("nothing native is loaded for an exact index", async () => {
  const engines = new Engines({ usearch: never, faiss: never });
  expect(await engines.choose("auto", 5_000, null)).toBe("exact");
  using index = await engines.createIndex({ engine: "exact", dimensions: 2 });
  expect(index.size).toBe(0);
});

test.each([0, -1, 1.5, Number.NaN, 8_193, Infinity])(
  "%d dimensions are refused for an index",
  async (dimensions) => {
    for (const engine of ["exact", "usearch", "faiss"] as const)
      await expect(new Engines().createIndex({ engine, dimensions })).rejects.toMatchObject({
        code: "InvalidParams",
      });
  },
);

function never(): never {
  throw new Error("Nobody should have asked.");
}
