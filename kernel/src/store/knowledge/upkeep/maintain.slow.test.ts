import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../../../../../test/support/until.ts";
import { EmbeddingError } from "../../embedding/port.ts";
import { startMs, testKnowledge } from "../testing/test-knowledge.ts";
import { ToyEmbedder } from "../testing/toy-embedder.ts";

const dayMs = 24 * 60 * 60 * 1000;

test("near-duplicates: the older is removed, and the newer updates it; each pair once", async () => {
  const memory = await testKnowledge();
  memory.add("old", { text: "red house", data: { n: 1 } });
  memory.add("other variant", { variant: "Event", text: "red house", data: { n: 1 } });
  memory.add("new", { text: "red house", data: { n: 1, more: true } });
  memory.add("unlike", { text: "blue sea" });
  await memory.project();
  const merged = [
    { operation: "relate", from: "new", to: "old", relation: "Updates" },
    { operation: "delete", id: "old", reason: "merged" },
  ];
  expect((await memory.store.maintain(startMs, null)).changes).toEqual(merged);
  // The caller died before it had written that down, or half of it.
  await memory.reopen();
  memory.say("update", "new", { relate: { to: "old", relation: "Updates" } });
  await memory.project();
  expect((await memory.store.maintain(startMs, null)).changes).toEqual(merged);
  memory.say("delete", "old", {});
  await memory.project();
  expect((await memory.store.maintain(startMs, null)).changes).toEqual([]);
});

test("a similar item stays if it has a text, importance or embedding that the newer does not", async () => {
  const memory = await testKnowledge();
  memory.add("words a", { text: "house red", data: { n: 1 } });
  memory.add("words b", { text: "red house", data: { n: 1 } });
  memory.add("data a", { text: "blue sea", data: { path: "a.jpg" } });
  memory.add("data b", { text: "blue sea", data: { path: "b.jpg" } });
  memory.add("field a", { text: "green hill", data: { at: [43, 3], name: "hill" } });
  memory.add("field b", { text: "green hill", data: { name: "hill" } });
  memory.add("list a", { text: "grey stone", data: [1] });
  memory.add("list b", { text: "grey stone", data: [1, 2] });
  memory.add("weight a", { text: "white cloud", importance: 0.9 });
  memory.add("weight b", { text: "white cloud" });
  memory.add("face a", { text: "face of Anna", embedding: [1, 0] });
  memory.add("face b", { text: "face of Anna", embedding: [0, 1] });
  await memory.project();
  const { changes } = await memory.store.maintain(startMs, null);
  expect(changes.filter(({ operation }) => operation === "delete")).toEqual([]);
});

test("with a slow embedder, updates are found in the background: each item once, the most similar existing one", async () => {
  const service = { kind: "openai-compatible", url: "http://localhost/", model: "m" } as const;
  const memory = await testKnowledge({ settings: { embedder: service } });
  const others = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen";
  memory.add("old", { text: others, data: { n: 1 } });
  memory.add("liker", { text: `${others} x`, data: { n: 2 } });
  memory.add("other variant", { variant: "Event", text: `${others} x y`, data: { n: 3 } });
  memory.add("unlike", { text: "blue sea", data: { n: 4 } });
  memory.add("says itself", {
    text: `${others} y`,
    data: { n: 5 },
    relations: [{ to: "old", relation: "Updates" }],
  });
  memory.add("new", { text: `${others} x y`, data: { n: 6 } });
  await memory.project();
  await memory.embedded();
  const { changes: updates, isUnfinished } = await memory.store.maintain(startMs, null);
  expect(isUnfinished).toBe(true);
  expect(updates).toEqual([
    { operation: "relate", from: "liker", to: "old", relation: "Updates" },
    {
      operation: "relate",
      from: "new",
      to: expect.stringMatching(/^(liker|says itself)$/),
      relation: "Updates",
    },
  ]);
  // The caller died before it had written that down.
  await memory.reopen();
  expect((await memory.store.maintain(startMs, null)).changes).toEqual(updates);
  for (const { from, to } of updates.filter((change) => change.operation === "relate"))
    memory.say("update", from, { relate: { to, relation: "Updates" } });
  await memory.project();
  expect(await memory.store.maintain(startMs, null)).toEqual({ changes: [], isUnfinished: false });
  // A later change adds no relation.
  memory.say("update", "unlike", { text: others });
  await memory.project();
  await memory.embedded();
  expect((await memory.store.maintain(startMs, null)).changes).toEqual([]);
});

test("an item that is embedded late is compared then, and so are the items after it", async () => {
  const service = { kind: "openai-compatible", url: "http://localhost/", model: "m" } as const;
  const waiting = Promise.withResolvers<void>();
  let isMended = false;
  const openEmbedder = async (): Promise<ToyEmbedder> => {
    const embedder = new ToyEmbedder(service);
    embedder.before = async (texts) => {
      await waiting.promise;
      if (!isMended && texts.some((text) => text.includes("stubborn")))
        throw new EmbeddingError("not that", { isRetryable: false });
    };
    return embedder;
  };
  const memory = await testKnowledge({ settings: { embedder: service }, openEmbedder });
  const others =
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen";
  memory.add("old", { text: `stubborn ${others}`, data: { n: 1 } });
  memory.add("new", { text: `gladly ${others}`, data: { n: 2 } });
  await memory.project();
  expect(await memory.store.maintain(startMs, null)).toEqual({ changes: [], isUnfinished: true });
  waiting.resolve();
  await memory.embedded();
  expect((await memory.store.stats()).vectors).toMatchObject({ count: 1, failed: 1 });
  expect(await memory.store.maintain(startMs, null)).toEqual({ changes: [], isUnfinished: false });
  isMended = true;
  await memory.reopen();
  await memory.embedded();
  expect((await memory.store.stats()).vectors).toMatchObject({ count: 2, failed: 0 });
  expect((await memory.store.maintain(startMs, null)).changes).toEqual([
    { operation: "relate", from: "new", to: "old", relation: "Updates" },
  ]);
});

test("a compared item is not compared again with another embedder", async () => {
  const memory = await testKnowledge();
  memory.add("old", { text: "red house by the sea", data: { n: 1 } });
  memory.add("new", { text: "a boat on the lake", data: { n: 2 } });
  await memory.project();
  expect((await memory.store.maintain(startMs, null)).changes).toEqual([]);
  memory.say("update", "new", { text: "red house by the sea" });
  await memory.project();
  await memory.configure({ embedder: { kind: "openai-compatible", url: "http://localhost/", model: "m" } });
  await until("the new one serves", async () => (await memory.store.stats()).embedder === "toy/m/64");
  expect((await memory.store.maintain(startMs, null)).changes).toEqual([]);
});

test("relations of the older item move to the newer one, however many are merged at once", async () => {
  const memory = await testKnowledge();
  memory.add("town", { text: "a town" });
  memory.add("one", { text: "red house", relations: [{ to: "town", relation: "PartOf" }] });
  memory.add("door", { text: "a door", relations: [{ to: "one", relation: "PartOf" }] });
  memory.add("two", { text: "red house", relations: [{ to: "one", relation: "Updates" }] });
  memory.add("three", { text: "red house" });
  await memory.project();
  for (const change of (await memory.store.maintain(startMs, null)).changes) {
    if (change.operation === "delete") memory.say("delete", change.id, {});
    else memory.say("update", change.from, { relate: { to: change.to, relation: change.relation } });
  }
  await memory.project();
  expect(await memory.ids({ related_to: { id: "town", relation: "PartOf" } })).toEqual(["three"]);
  expect(await memory.ids({ related_to: { id: "three", relation: "PartOf" } })).toEqual(
    expect.arrayContaining(["town", "door"]),
  );
  expect(await memory.ids({ related_to: { id: "three" } })).toHaveLength(2);
});

test("only what a policy names is pruned: unimportant, old, and never found", async () => {
  const memory = await testKnowledge();
  memory.add("found", { text: "one", importance: 0.1 });
  memory.add("important", { text: "two", importance: 0.9 });
  memory.add("forgettable", { text: "three", importance: 0.1 });
  memory.add("self", { variant: "Identity", text: "four", importance: 0.5 });
  await memory.project();
  await memory.ids({ similar_to: "one", top_k: 1 }, startMs);
  const policy = { belowImportance: 0.2, olderThanMs: 90 * dayMs };
  expect((await memory.store.maintain(startMs + 365 * dayMs, null)).changes).toEqual([]);
  expect((await memory.store.maintain(startMs + 89 * dayMs, policy)).changes).toEqual([]);
  expect((await memory.store.maintain(startMs + 365 * dayMs, policy)).changes).toEqual([
    { operation: "delete", id: "forgettable", reason: "pruned" },
  ]);
});

test("beyond maxVectors the coldest items lose their vectors: found by words only, not embedded again until they change", async () => {
  const memory = await testKnowledge({ settings: { maxVectors: 2 } });
  for (const id of ["a", "b", "c"]) memory.add(id, { text: `text ${id}` });
  await memory.project();
  await memory.ids({ similar_to: "text a", top_k: 1 }, startMs);
  await memory.store.maintain(startMs + dayMs, null);
  await memory.project();
  const embedded = async () =>
    Object.fromEntries((await memory.store.query({}, startMs)).items.map((item) => [item.id, item.embedded]));
  expect(await embedded()).toEqual({ a: true, b: false, c: true });
  expect((await memory.store.search({ text: "b", mode: "text" }, startMs)).items[0]?.id).toBe("b");
  await memory.reopen();
  expect(await embedded()).toEqual({ a: true, b: false, c: true });
  memory.say("update", "b", { text: "changed" });
  await memory.project();
  expect(await memory.ids({ similar_to: "changed", top_k: 1 })).toEqual(["b"]);
});

test("tiers follow finds and age; no index is rebuilt, and queries are answered all along", async () => {
  const made: string[] = [];
  const memory = await testKnowledge({
    openEmbedder: async (spec) => {
      const embedder = new ToyEmbedder(spec);
      embedder.before = (texts, purpose) => void (purpose === "item" && made.push(...texts));
      return embedder;
    },
  });
  for (let index = 0; index < 20; index += 1) memory.add(`i${index}`, { text: `word${index}` });
  await memory.project();
  const tiers = async () => {
    const { hot, warm, cold } = (await memory.store.stats()).vectors;
    return { hot, warm, cold };
  };
  await memory.store.maintain(startMs + dayMs, null);
  expect(await tiers()).toEqual({ hot: 20, warm: 0, cold: 0 });
  for (let times = 0; times < 3; times += 1)
    await memory.ids({ similar_to: "word1", top_k: 1 }, startMs + 60 * dayMs);
  await memory.store.maintain(startMs + 60 * dayMs, null);
  expect(await tiers()).toEqual({ hot: 1, warm: 19, cold: 0 });
  expect(await memory.ids({ similar_to: "word7", top_k: 1 })).toEqual(["i7"]);
  await memory.reopen(false);
  expect(await memory.ids({ similar_to: "word7", top_k: 1 })).toEqual(["i7"]);
  expect(made).toHaveLength(20);
});

test("an index rebuilt from cold vectors finds the same, and found items become hot", async () => {
  const memory = await testKnowledge({ settings: { embedder: { kind: "hash", dimensions: 32 } } });
  const count = 300;
  for (let index = 0; index < count; index += 1) memory.add(`i${index}`, { text: `word${index}` });
  await memory.project();
  const oldMs = startMs + 200 * dayMs;
  await memory.store.maintain(oldMs, null);
  expect((await memory.store.stats()).vectors).toMatchObject({ count, hot: 0, warm: 0, cold: count });
  const [kept] = await memory.file.all<{ bytes: number }>(
    "SELECT max(octet_length(bytes)) AS bytes FROM knowledge_vectors",
  );
  expect(kept?.bytes).toBeLessThan(32 * 2);
  await memory.store[Symbol.asyncDispose]();
  await rm(join(memory.folder, "knowledge.exact"));
  await memory.reopen(false);
  let found = 0;
  for (let index = 0; index < 100; index += 1) {
    const [id] = await memory.ids({ similar_to: `word${index}`, top_k: 1 }, oldMs);
    if (id === `i${index}`) found += 1;
  }
  expect(found).toBeGreaterThanOrEqual(98);
  await memory.store.maintain(oldMs, null);
  expect((await memory.store.stats()).vectors).toMatchObject({ hot: 100, cold: count - 100 });
});
