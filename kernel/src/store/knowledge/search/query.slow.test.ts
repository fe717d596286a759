import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KnowledgeAddition, KnowledgeQuery, Where } from "../../../memory-contract/queries.ts";
import { matches } from "../../projection/testing/where-reference.ts";
import { givenSpace } from "../embedding/given.ts";
import { maxWalkedItems } from "./graph.ts";
import { f32, startMs, testKnowledge } from "../testing/test-knowledge.ts";
import { ToyEmbedder } from "../testing/toy-embedder.ts";

const words = ["beach", "sea", "snow", "ski", "lake"];
const toy = new ToyEmbedder({ kind: "hash" });

interface PlainItem extends KnowledgeAddition {
  readonly id: string;
}

/** A reference for queries: ids from a list, with the similarity if the query asks for one. */
function plainly(items: readonly PlainItem[], query: KnowledgeQuery): { id: string; similarity: number }[] {
  const related = query.related_to && plainlyRelated(items, query.related_to);
  const vector = query.similar_to === undefined ? null : toy.vectorOf(query.similar_to);
  return items
    .filter(
      (item) =>
        (query.variant === undefined || item.variant === query.variant) &&
        matches(item.data, query.where ?? []) &&
        (related === undefined || related.has(item.id)),
    )
    .map((item) => ({
      id: item.id,
      similarity:
        vector === null
          ? 0
          : toy.vectorOf(item.text ?? "").reduce((sum, x, i) => sum + x * (vector[i] ?? 0), 0),
    }))
    .filter(({ similarity }) => vector === null || similarity >= (query.min_similarity ?? -1));
}

function plainlyRelated(
  items: readonly PlainItem[],
  { id, depth = 1, relation }: NonNullable<KnowledgeQuery["related_to"]>,
): Set<string> {
  const existing = new Set(items.map((item) => item.id));
  const edges = items.flatMap((item) =>
    (item.relations ?? [])
      .filter((each) => relation === undefined || each.relation === relation)
      .flatMap(({ to }) => [[item.id, to] as const, [to, item.id] as const]),
  );
  let reached = new Set(existing.has(id) ? [id] : []);
  for (let step = 0; step < depth; step += 1) {
    reached = new Set([
      ...reached,
      ...edges.filter(([from, to]) => reached.has(from) && existing.has(to)).map(([, to]) => to),
    ]);
  }
  reached.delete(id);
  return reached;
}

test("any query gives the same answer as a list", async () => {
  const ids = Array.from({ length: 12 }, (_, index) => `i${index}`);
  const item = fc.record({
    variant: fc.constantFrom("Fact", "Event"),
    data: fc.record({
      n: fc.integer({ min: 0, max: 4 }),
      at: fc.tuple(fc.integer({ min: -90, max: 90 }), fc.integer({ min: -180, max: 180 })),
    }),
    text: fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }).map((some) => some.join(" ")),
    relations: fc.array(
      fc.record({ to: fc.constantFrom(...ids, "nowhere"), relation: fc.constantFrom("PartOf", "Updates") }),
      { maxLength: 2 },
    ),
  });
  const where: fc.Arbitrary<Where> = fc.oneof(
    fc.record({
      field: fc.constantFrom("n", "zz"),
      op: fc.constantFrom("eq", "ne", "gt", "lte"),
      value: fc.nat(4),
    }),
    fc.record({
      field: fc.constant("at"),
      op: fc.constant("near" as const),
      value: fc.constantFrom([0, 180], [90, 0], [48, 16]),
      km: fc.constantFrom(500, 5_000, 15_000),
    }),
  );
  const query = fc.record(
    {
      similar_to: fc.constantFrom("beach sea", "ski"),
      variant: fc.constantFrom("Fact", "Unheard"),
      where: fc.array(where, { maxLength: 2 }),
      related_to: fc.record(
        {
          id: fc.constantFrom(...ids),
          depth: fc.integer({ min: 1, max: 5 }),
          relation: fc.constant("PartOf"),
        },
        { requiredKeys: ["id"] },
      ),
      min_similarity: fc.constantFrom(0, 0.5),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(item, { minLength: 1, maxLength: ids.length }),
      fc.array(query, { minLength: 4, maxLength: 8 }),
      async (additions, queries) => {
        await using memory = await testKnowledge();
        const items = additions.map((addition, index) => ({ ...addition, id: ids[index] ?? "" }));
        for (const { id, ...addition } of items) memory.add(id, addition);
        await memory.project();
        for (const each of queries) {
          const expected = plainly(items, each);
          const { items: found } = await memory.store.query({ ...each, top_k: 1_000 }, startMs);
          expect(found.map(({ id }) => id).toSorted()).toEqual(expected.map(({ id }) => id).toSorted());
          if (each.similar_to === undefined) continue;
          const similarity = new Map(expected.map((one) => [one.id, one.similarity]));
          for (const { id, similarity: given } of found)
            expect(given).toBeCloseTo(similarity.get(id) ?? 9, 4);
          const order = found.map((one) => one.similarity ?? 9);
          expect(order).toEqual(order.toSorted((a, b) => b - a));
        }
      },
    ),
    { numRuns: 15 },
  );
});

test.each(["exact", "usearch"] as const)("the nearest that pass, however many do (%s)", async (engine) => {
  const memory = await testKnowledge({ settings: { vectors: engine } });
  const items: PlainItem[] = Array.from({ length: 600 }, (_, index) => ({
    id: `i${index}`,
    variant: "Fact",
    data: { n: index },
    text: `${words[index % 5]} thing${index}`,
  }));
  for (const { id, ...addition } of items) memory.add(id, addition);
  await memory.project();
  for (const least of [0, 300, 500, 590, 599, 600]) {
    const query = { similar_to: "beach thing7", where: [{ field: "n", op: "gte" as const, value: least }] };
    const expected = plainly(items, query).toSorted((a, b) => b.similarity - a.similarity);
    const { items: found } = await memory.store.query({ ...query, top_k: 20 }, startMs);
    expect(found.map(({ id }) => id)).toEqual(expected.slice(0, 20).map(({ id }) => id));
  }
});

describe("along relations", () => {
  test("cycles, the item itself, dangling relations, and depth", async () => {
    const memory = await testKnowledge();
    const chain = ["a", "b", "c", "d", "e", "f", "g"];
    for (const [index, id] of chain.entries()) {
      memory.add(id, { relations: [{ to: chain[index + 1] ?? "nowhere", relation: "PartOf" }] });
    }
    memory.say("update", "a", { relate: { to: "a", relation: "RelatedTo" } });
    memory.say("update", "g", { relate: { to: "f", relation: "RelatedTo" } });
    memory.add("z", { relations: [{ to: "nowhere", relation: "PartOf" }] });
    await memory.project();
    const from = async (id: string, depth?: number, relation?: string): Promise<string[]> =>
      (
        await memory.ids({
          related_to: { id, ...(depth && { depth }), ...(relation && { relation }) },
          top_k: 100,
        })
      ).toSorted();
    expect(await from("a")).toEqual(["b"]);
    expect(await from("c", 2)).toEqual(["a", "b", "d", "e"]);
    expect(await from("a", 5)).toEqual(["b", "c", "d", "e", "f"]);
    expect(await from("f", 1, "RelatedTo")).toEqual(["g"]);
    expect(await from("f", 1, "Unheard")).toEqual([]);
    // Items that point to the same missing item are not related by it.
    expect(await from("z", 5)).toEqual([]);
    expect(await from("nowhere", 5)).toEqual([]);
    for (const depth of [0, 6, 1.5]) {
      await expect(memory.store.query({ related_to: { id: "a", depth } }, startMs)).rejects.toThrow(/1 to 5/);
    }
  });

  test("one item with 10,000 relations: all related items are found, up to the limit", async () => {
    const memory = await testKnowledge();
    const relations = Array.from({ length: 10_000 }, (_, index) => ({ to: `n${index}`, relation: "PartOf" }));
    memory.add("hub", { relations });
    for (let index = 0; index < 10_000; index += 1)
      memory.add(`n${index}`, { text: index === 77 ? "needle" : "hay" });
    memory.add("beyond", { relations: [{ to: "n5", relation: "PartOf" }] });
    await memory.project();
    expect(await memory.ids({ related_to: { id: "hub" }, top_k: 1_000 })).toHaveLength(1_000);
    expect(await memory.ids({ related_to: { id: "hub" }, similar_to: "needle", top_k: 1 })).toEqual(["n77"]);
    expect(maxWalkedItems).toBe(10_000);
    expect(
      await memory.ids({ related_to: { id: "hub", depth: 2 }, similar_to: "beyond", top_k: 1_000 }),
    ).not.toContain("beyond");
    const { items } = await memory.store.query({ similar_to: "PartOf", where: [], top_k: 1 }, startMs);
    expect(items).toHaveLength(1);
  });
});

test.each<[string, readonly [number, number], readonly [number, number], number]>([
  ["over the date line", [0, 179.9], [0, -179.9], 25],
  ["over the north pole", [89.9, 0], [89.9, 180], 25],
  ["at the south pole, whatever the longitude", [-90, 10], [-90, -170], 0.001],
])("near: %s", async (_, place, from, km) => {
  const memory = await testKnowledge();
  memory.add("there", { data: { at: place } });
  memory.add("elsewhere", { data: { at: [0, 0] } });
  await memory.project();
  const where = [{ field: "at", op: "near" as const, value: from, km }];
  expect(await memory.ids({ where })).toEqual(["there"]);
});

test("unknown variants and fields are not errors and match nothing", async () => {
  const memory = await testKnowledge();
  memory.add("a", { data: { x: 1 } });
  await memory.project();
  expect(await memory.ids({ variant: "Unheard" })).toEqual([]);
  expect(await memory.ids({ where: [{ field: "y.z", op: "eq", value: 1 }] })).toEqual([]);
  expect(await memory.ids({ variant: "Unheard", similar_to: "x" })).toEqual([]);
});

const syntax = [
  "'; DROP TABLE knowledge_items; --",
  '") OR 1=1 --',
  "%_\\",
  '"unclosed AND (NEAR/2 *',
  "x:y^2 -z +w {a b}: col",
  "\u0000nul",
  "\ud800 half a character",
  "$1 ? :name @x",
  "' || (SELECT id FROM knowledge_items) || '",
];
test.each(syntax)("SQL or search syntax is treated as words: %j", async (text) => {
  const memory = await testKnowledge();
  memory.add(text, {
    variant: text,
    text,
    data: { [text.toWellFormed()]: text.toWellFormed() },
    relations: [{ to: text, relation: text }],
  });
  memory.add("other", { text: "something else" });
  await memory.project();
  const id = text.toWellFormed();
  expect(await memory.ids({ variant: text })).toEqual([id]);
  expect(await memory.ids({ similar_to: text, top_k: 1 })).toEqual([id]);
  expect(await memory.ids({ where: [{ field: text, op: "eq", value: text }] })).toEqual([id]);
  expect(await memory.ids({ related_to: { id: text, relation: text } })).toEqual([]);
  expect(await memory.ids({ related_to: { id: "other", relation: text } })).toEqual([]);
  const { items } = await memory.store.search({ text, mode: "hybrid" }, startMs);
  expect(items.map((hit) => hit.id)).toContain(id);
  expect(await memory.ids({})).toHaveLength(2);
});

describe("embeddings that were brought", () => {
  test("are compared among themselves, and their items are also found by their words", async () => {
    const memory = await testKnowledge();
    memory.add("north", { text: "up", embedding: [0, 2, 0] });
    memory.add("east", { text: "right", embedding: [3, 0, 0] });
    memory.add("plain", { text: "no embedding" });
    await memory.project();
    const { items } = await memory.store.query({ embedding: [1, 5, 0] }, startMs);
    expect(items.map(({ id }) => id)).toEqual(["north", "east"]);
    expect(items[0]?.similarity).toBeCloseTo(5 / Math.sqrt(26), 6);
    expect(await memory.ids({ similar_to: "right", top_k: 1 })).toEqual(["east"]);
    expect(await memory.ids({ embedding: [1, 5, 0], min_similarity: 0.5 })).toEqual(["north"]);
    const added = { id: "new", variant: "Fact", embedding: [0, 1, 0] };
    expect(await memory.store.nearest([added], 0.9)).toEqual([
      { id: "north", similarity: expect.closeTo(1, 6) },
    ]);
  });

  test("of other dimensions are refused, and the error names the expected ones; if the journal has several, the oldest count", async () => {
    const memory = await testKnowledge();
    expect(await memory.ids({ embedding: [1, 2] })).toEqual([]);
    memory.add("three", { text: "three", embedding: [1, 2, 3] });
    memory.add("two", { text: "two", embedding: [1, 2] });
    await memory.project();
    const refused = { code: "InvalidParams", facts: { expected: 3, got: 2 } };
    await expect(memory.store.query({ embedding: [1, 2] }, startMs)).rejects.toMatchObject(refused);
    expect(await memory.store.nearest([{ id: "new", variant: "Fact", embedding: [1, 2] }], 0)).toEqual([
      { refused: expect.any(String), facts: refused.facts },
    ]);
    expect(await memory.ids({ embedding: [1, 2, 3] })).toEqual(["three"]);
    expect(await memory.ids({ similar_to: "two", top_k: 1 })).toEqual(["two"]);
    // The item that set the dimensions is removed: the next one sets them.
    memory.say("delete", "three", {});
    await memory.project();
    expect(await memory.ids({ embedding: [1, 2] })).toEqual(["two"]);
  });

  test.each([
    [[]],
    [[0, 0]],
    [[1, Number.NaN]],
    [[1, Number.POSITIVE_INFINITY]],
    [[null as unknown as number, 1]],
  ])("that are none are refused: %j", async (embedding) => {
    const memory = await testKnowledge();
    await expect(memory.store.query({ embedding }, startMs)).rejects.toMatchObject({ code: "InvalidParams" });
  });

  test("a change brings another one, and the old one is no longer found", async () => {
    const memory = await testKnowledge();
    memory.add("a", { embedding: [1, 0] });
    await memory.project();
    memory.say("update", "a", { embedding_f32: f32([0, 1]) });
    await memory.project();
    expect(await memory.ids({ embedding: [1, 0], min_similarity: 0.5 })).toEqual([]);
    expect(await memory.ids({ embedding: [0, 1], min_similarity: 0.5 })).toEqual(["a"]);
    const [count] = await memory.file.all("SELECT count(*) AS count FROM knowledge_vectors WHERE space = ?", [
      givenSpace(2),
    ]);
    expect(count).toEqual({ count: 1 });
  });
});
