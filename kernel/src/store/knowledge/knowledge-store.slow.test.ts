import { describe, expect, test } from "vitest";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import { until } from "../../../../test/support/until.ts";
import type { EmbedderSpec } from "../../memory-contract/store-settings.ts";
import { EmbeddingError } from "../embedding/port.ts";
import { f32, startMs, testKnowledge } from "./testing/test-knowledge.ts";
import { ToyEmbedder } from "./testing/toy-embedder.ts";

const service: EmbedderSpec = { kind: "openai-compatible", url: "http://here", model: "service" };

test("added items are found by similarity, by variant, by a field, by relation and by importance", async () => {
  const memory = await testKnowledge();
  memory.add("a", { text: "the beach at sunset", data: { place: "beach", n: 1 } });
  memory.add("b", { text: "the mountain in winter", data: { place: "mountain", n: 2 }, importance: 0.9 });
  memory.add("c", {
    variant: "Decision",
    data: { note: "go to the beach" },
    relations: [{ to: "a", relation: "CausedBy" }],
  });
  await memory.project();
  expect(await memory.ids({ similar_to: "beach at sunset", top_k: 1 })).toEqual(["a"]);
  expect(await memory.ids({ similar_to: "beach", variant: "Decision" })).toEqual(["c"]);
  expect(await memory.ids({ where: [{ field: "place", op: "eq", value: "mountain" }] })).toEqual(["b"]);
  expect(await memory.ids({ related_to: { id: "a" } })).toEqual(["c"]);
  expect((await memory.ids({}))[0]).toBe("b");
  const { items } = await memory.store.query({ similar_to: "the beach at sunset", top_k: 1 }, startMs);
  expect(items[0]).toMatchObject({
    id: "a",
    variant: "Fact",
    data: { place: "beach", n: 1 },
    text: "the beach at sunset",
    relations: [],
    embedded: true,
  });
  expect(items[0]?.similarity).toBeCloseTo(1, 5);
  expect(await memory.store.existing(["c", "nobody", "a"])).toEqual(["c", "a"]);
});

test("changed text is embedded again, and the old text is no longer found", async () => {
  const memory = await testKnowledge();
  memory.add("a", { text: "beach" });
  await memory.project();
  memory.say("update", "a", { text: "mountain" });
  await memory.project();
  expect(await memory.ids({ similar_to: "beach", min_similarity: 0.9 })).toEqual([]);
  expect(await memory.ids({ similar_to: "mountain", min_similarity: 0.9 })).toEqual(["a"]);
  expect((await memory.store.stats()).vectors).toMatchObject({ count: 1, pending: 0 });
});

test.each(["delete", "redact"] as const)("a removed item (%s) is not found in any way", async (operation) => {
  const memory = await testKnowledge();
  memory.add("a", { text: "beach", relations: [{ to: "b", relation: "PartOf" }], embedding: [1, 0] });
  memory.add("b", { text: "sea", relations: [{ to: "a", relation: "PartOf" }] });
  memory.say("update", "a", { text: "beach again" });
  await memory.project();
  if (operation === "delete") memory.say("delete", "a", {});
  else memory.say("redact", "", { seqs: [1, 3].map((seq) => [seq, seq]), reason: "forget" });
  await memory.project();
  expect(await memory.ids({ similar_to: "beach again", top_k: 10 })).toEqual(["b"]);
  expect(await memory.ids({ embedding: [1, 0] })).toEqual([]);
  expect(await memory.ids({ related_to: { id: "b" } })).toEqual([]);
  expect(await memory.ids({ related_to: { id: "a" } })).toEqual([]);
  expect(await memory.ids({})).toEqual(["b"]);
  for (const mode of ["text", "vector", "hybrid"] as const) {
    const { items } = await memory.store.search({ text: "beach again", mode }, startMs);
    expect(items.map(({ id }) => id)).not.toContain("a");
  }
  await memory.reopen();
  expect(await memory.ids({ similar_to: "beach again", top_k: 10 })).toEqual(["b"]);
});

test("earlier items of the list count as existing: by the embeddings they bring, of the same variant, without refused ones", async () => {
  const memory = await testKnowledge();
  memory.add("old", { text: "red house garden", embedding: [0, 1] });
  await memory.project();
  const items = [
    { id: "1", variant: "Fact", embedding: [1, 0] },
    { id: "2", variant: "Fact" },
    { id: "3", variant: "Event", embedding: [1, 0] },
    { id: "4", variant: "Fact", embedding: [0, 2] },
    { id: "5", variant: "Fact", embedding: [1, 2, 3] },
    { id: "6", variant: "Fact", embedding: [1, 0.01] },
  ];
  const like = (id: string): object => ({ id, similarity: expect.closeTo(1, 3) });
  expect(await memory.store.nearest(items, 0.9)).toEqual([
    null,
    null,
    null,
    like("old"),
    { refused: expect.stringContaining("2 dimensions"), facts: { expected: 2, got: 3 } },
    like("1"),
  ]);
});

test("what an item updates is found in the background, by its text, and proposed until it is in the tables", async () => {
  const memory = await testKnowledge();
  for (const id of ["old", "new"]) memory.add(id, { text: "red house garden" });
  memory.add("event", { variant: "Event", text: "red house garden" });
  memory.add("other", { text: "a boat on the lake" });
  await memory.project();
  const proposed = {
    changes: [{ operation: "relate", from: "new", to: "old", relation: "Updates" }],
    isMore: true,
    isWaiting: false,
  };
  expect(await memory.store.updates()).toEqual(proposed);
  await memory.reopen(false);
  expect(await memory.store.updates()).toEqual(proposed);
  memory.say("update", "new", { relate: { to: "old", relation: "Updates" } });
  await memory.project();
  expect(await memory.store.updates()).toEqual({ changes: [], isMore: false, isWaiting: false });
});

test("the item most like another: of its variant, above the bound, by the embedding it brings", async () => {
  const memory = await testKnowledge();
  for (let index = 0; index < 40; index += 1)
    memory.add(`e${index}`, { variant: "Event", text: "red house", embedding: [1, 0] });
  memory.add("f", { text: "red house garden", embedding: [1, 0.2] });
  await memory.project();
  const nearest = (minSimilarity: number, variant = "Fact") =>
    memory.store.nearest([{ id: "new", variant, embedding: [1, 0] }], minSimilarity);
  expect(await nearest(0.5)).toMatchObject([{ id: "f" }]);
  expect(await nearest(0.99)).toEqual([null]);
  expect(await nearest(-1, "Unheard")).toEqual([null]);
});

test.each([true, false])(
  "restarted (in order: %s), everything is found again, and nothing embedded twice",
  async (isClosed) => {
    const asked: string[] = [];
    const memory = await testKnowledge({
      openEmbedder: async (spec) => {
        const embedder = new ToyEmbedder(spec);
        embedder.before = (texts, purpose) => void (purpose === "item" && asked.push(...texts));
        return embedder;
      },
    });
    for (const word of ["one", "two", "three"]) memory.add(word, { text: word, embedding: [word.length, 1] });
    await memory.project();
    memory.say("delete", "two", {});
    memory.say("update", "one", { text: "uno" });
    await memory.project();
    const before = [await memory.ids({ similar_to: "uno" }), await memory.ids({ embedding: [3, 1] })];
    await memory.reopen(isClosed);
    expect([await memory.ids({ similar_to: "uno" }), await memory.ids({ embedding: [3, 1] })]).toEqual(
      before,
    );
    expect(asked).toEqual(["one", "two", "three", "uno"]);
  },
);

describe("an embedder that takes its time", () => {
  test("adding does not wait for it; until then an item is found by its words and is marked", async () => {
    const gate = Promise.withResolvers<void>();
    const memory = await testKnowledge({
      settings: { embedder: service },
      openEmbedder: async (spec) => {
        const embedder = new ToyEmbedder(spec);
        embedder.before = (_, purpose) => (purpose === "item" ? gate.promise : Promise.resolve());
        return embedder;
      },
    });
    memory.add("a", { text: "beach" });
    await memory.project();
    expect((await memory.store.query({}, startMs)).items).toMatchObject([{ id: "a", embedded: false }]);
    expect((await memory.store.search({ text: "beach", mode: "text" }, startMs)).items).toHaveLength(1);
    expect(await memory.store.updates()).toEqual({ changes: [], isMore: false, isWaiting: true });
    expect((await memory.store.stats()).vectors).toMatchObject({ pending: 1, count: 0 });
    gate.resolve();
    await memory.embedded();
    expect(await memory.ids({ similar_to: "beach", min_similarity: 0.9 })).toEqual(["a"]);
    expect((await memory.store.query({}, startMs)).items).toMatchObject([{ embedded: true }]);
  });

  test("an item that changes while it is embedded gets the embedding of its new text", async () => {
    const gate = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const memory = await testKnowledge({
      settings: { embedder: service },
      openEmbedder: async (spec) => {
        const embedder = new ToyEmbedder(spec);
        embedder.before = (_, purpose) => {
          started.resolve();
          return purpose === "item" ? gate.promise : Promise.resolve();
        };
        return embedder;
      },
    });
    memory.add("changed", { text: "beach" });
    memory.add("removed", { text: "beach" });
    await memory.project();
    await started.promise;
    memory.say("update", "changed", { text: "mountain" });
    memory.say("delete", "removed", {});
    await memory.project();
    gate.resolve();
    await memory.embedded();
    expect(await memory.ids({ similar_to: "beach", min_similarity: 0.9 })).toEqual([]);
    expect(await memory.ids({ similar_to: "mountain", min_similarity: 0.9 })).toEqual(["changed"]);
  });

  test("three attempts with pauses between them, across a restart; then the item is given up until its text changes", async () => {
    const clock = new ManualClock();
    let calls = 0;
    const memory = await testKnowledge({
      settings: { embedder: service },
      clock,
      openEmbedder: async (spec) => {
        const embedder = new ToyEmbedder(spec);
        embedder.before = ([text]) => {
          calls += 1;
          if (text === "beach") throw new EmbeddingError("busy", { isRetryable: true, retryAfterMs: 60_000 });
        };
        return embedder;
      },
    });
    memory.add("a", { text: "beach" });
    const tried = (times: number) =>
      until(`try ${times}`, async () => {
        const [item] = await memory.file.all<{ attempts: number }>("SELECT attempts FROM knowledge_queue");
        return item?.attempts === times && calls === times;
      });
    await memory.project();
    await tried(1);
    // Before its time nothing is tried, not even after a restart.
    clock.advance(59_999);
    await memory.reopen();
    await memory.project();
    expect(calls).toBe(1);
    clock.advance(1);
    await tried(2);
    clock.advance(60_000);
    await tried(3);
    expect((await memory.store.stats()).vectors).toMatchObject({ pending: 0, failed: 1 });
    clock.advance(3_600_000);
    await memory.project();
    expect((await memory.store.query({}, startMs)).items).toMatchObject([{ id: "a", embedded: false }]);
    memory.say("update", "a", { text: "sea" });
    await memory.project();
    await memory.embedded();
    expect(calls).toBe(4);
    expect((await memory.store.query({}, startMs)).items).toMatchObject([{ id: "a", embedded: true }]);
  });

  test("a given-up item is retried once with each start, a limited number of times, and found by words meanwhile", async () => {
    let calls = 0;
    let isMended = false;
    const memory = await testKnowledge({
      settings: { embedder: service },
      openEmbedder: async (spec) => {
        const embedder = new ToyEmbedder(spec);
        embedder.before = (_, purpose) => {
          if (purpose === "query") return;
          calls += 1;
          if (!isMended) throw new EmbeddingError("no", { isRetryable: false });
        };
        return embedder;
      },
    });
    memory.add("a", { text: "beach" });
    await memory.project();
    for (let starts = 0; starts < 20; starts += 1) {
      await memory.embedded();
      await memory.reopen();
    }
    await memory.embedded();
    expect(calls).toBe(12);
    const found = await memory.store.search({ text: "beach" }, startMs);
    expect(found.items.map(({ id }) => id)).toEqual(["a"]);
    memory.add("b", { text: "mountain" });
    await memory.project();
    await memory.embedded();
    isMended = true;
    await memory.reopen();
    await memory.embedded();
    expect((await memory.store.stats()).vectors).toMatchObject({ count: 1, failed: 1 });
  });

  test("one text that is refused for good does not hold up the others of its batch", async () => {
    const memory = await testKnowledge({
      settings: { embedder: service },
      openEmbedder: async (spec) => {
        const embedder = new ToyEmbedder(spec);
        embedder.before = (texts) => {
          if (texts.includes("bad")) throw new EmbeddingError("no", { isRetryable: false });
        };
        return embedder;
      },
    });
    for (const text of ["good", "bad", "fine", " "]) memory.add(text, { text });
    await memory.project();
    await memory.embedded();
    const { items } = await memory.store.query({}, startMs);
    expect(Object.fromEntries(items.map(({ id, embedded }) => [id, embedded]))).toEqual({
      good: true,
      bad: false,
      fine: true,
      " ": false,
    });
    expect((await memory.store.stats()).vectors).toMatchObject({ pending: 0, failed: 1, count: 2 });
  });

  test("killed during an embedding: it is requested again, and that does not count as an attempt", async () => {
    let calls = 0;
    const memory = await testKnowledge({
      settings: { embedder: service },
      openEmbedder: async (spec) => {
        const embedder = new ToyEmbedder(spec);
        embedder.before = () => {
          calls += 1;
          return calls === 1 ? new Promise(() => {}) : undefined;
        };
        return embedder;
      },
    });
    memory.add("a", { text: "beach" });
    await memory.project();
    await until("the embedder is asked", () => calls === 1);
    expect(await memory.file.all("SELECT state, attempts FROM knowledge_queue")).toEqual([
      { state: "pending", attempts: 0 },
    ]);
    await memory.reopen(false);
    await memory.embedded();
    expect((await memory.store.query({}, startMs)).items).toMatchObject([{ embedded: true }]);
  });
});

test("an import's vectors are taken while nothing is embedded; the rest is embedded after it", async () => {
  const asked: string[] = [];
  const memory = await testKnowledge({
    settings: { embedder: service, isGivenVectors: true },
    openEmbedder: async (spec) => {
      const embedder = new ToyEmbedder(spec);
      embedder.before = (texts, purpose) => void (purpose === "item" && asked.push(...texts));
      return embedder;
    },
  });
  for (const text of ["beach", "mountain", "forest", "city"]) memory.add(text, { text });
  await memory.project();
  const toy = new ToyEmbedder(service);
  const given = (id: string, numbers: Iterable<number> = toy.vectorOf(id)) => ({
    id,
    base64F32: f32([...numbers]),
  });
  expect(await memory.store.takeVectors("another", [given("beach")])).toEqual({ isWanted: false, taken: 0 });
  const vectors = [
    given("beach"),
    given("mountain"),
    given("unknown"),
    given("forest", [1, 2, 3]),
    given("city", new Float32Array(64).fill(Number.NaN)),
  ];
  expect(await memory.store.takeVectors(toy.name, vectors)).toEqual({ isWanted: true, taken: 2 });
  expect(await memory.ids({ similar_to: "beach", top_k: 1 })).toEqual(["beach"]);
  expect(asked).toEqual([]);
  await memory.configure({ isGivenVectors: false });
  await memory.embedded();
  expect(asked.toSorted()).toEqual(["city", "forest"]);
  expect((await memory.store.stats()).vectors).toMatchObject({ count: 4, pending: 0, failed: 0 });
});

test("finds are counted, raise importance, and survive an orderly restart", async () => {
  const memory = await testKnowledge();
  memory.add("a", { text: "beach" });
  memory.add("b", { text: "mountain" });
  await memory.project();
  expect(await memory.ids({ top_k: 1 }, startMs + 1)).toEqual(["b"]);
  for (let times = 0; times < 3; times += 1) await memory.ids({ similar_to: "beach", top_k: 1 }, startMs + 1);
  await memory.reopen();
  expect(await memory.ids({ top_k: 1 }, startMs + 1)).toEqual(["a"]);
});

test("vectors are exported page by page, by id, without brought ones", async () => {
  const memory = await testKnowledge();
  for (const id of ["c", "a", "b"]) memory.add(id, { text: id, embedding: [1, 2] });
  await memory.project();
  const first = await memory.store.vectorsPage({ afterId: null, limit: 2, changedBeforeMs: Infinity });
  expect([first.dimensions, first.items.map(({ id }) => id), first.isLast]).toEqual([64, ["a", "b"], false]);
  const vector = new Float32Array(
    Uint8Array.from(Buffer.from(first.items[0]?.base64F32 ?? "", "base64")).buffer,
  );
  expect(vector).toEqual(new ToyEmbedder({ kind: "hash" }).vectorOf("a"));
  const last = await memory.store.vectorsPage({ afterId: "b", limit: 2, changedBeforeMs: Infinity });
  expect([last.items.map(({ id }) => id), last.isLast]).toEqual([["c"], true]);
});
