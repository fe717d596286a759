import { expect, test } from "vitest";
import { ManualClock } from "../../../base/testing/manual-clock.ts";
import { until } from "../../../../../test/support/until.ts";
import type { EmbedderSpec } from "../../../memory-contract/store-settings.ts";
import { EmbeddingError } from "../../embedding/port.ts";
import { startMs, type TestKnowledge, testKnowledge } from "../testing/test-knowledge.ts";
import { ToyEmbedder } from "../testing/toy-embedder.ts";

const next: EmbedderSpec = { kind: "openai-compatible", url: "http://here", model: "next", dimensions: 32 };
const items = 120;

/** The service waits for `gate` before each answer about items. */
async function switching(): Promise<{
  memory: TestKnowledge;
  opened: ToyEmbedder[];
  gate: { open: () => void; calls: number; fail: EmbeddingError | null };
}> {
  const opened: ToyEmbedder[] = [];
  let release = Promise.withResolvers<void>();
  const gate = { open: () => release.resolve(), calls: 0, fail: null as EmbeddingError | null };
  const memory = await testKnowledge({
    openEmbedder: async (spec) => {
      const embedder = new ToyEmbedder(spec);
      opened.push(embedder);
      if (spec.kind === "hash") return embedder;
      embedder.before = async (_, purpose) => {
        if (purpose === "query") return;
        gate.calls += 1;
        if (gate.fail !== null) throw gate.fail;
        await release.promise;
      };
      return embedder;
    },
  });
  for (let index = 0; index < items; index += 1) memory.add(`i${index}`, { text: `word${index}` });
  await memory.project();
  return { memory, opened, gate };
}

const answers = async (memory: TestKnowledge, word: string): Promise<string[]> =>
  memory.ids({ similar_to: word, min_similarity: 0.9 });

test("the old embedder answers until the new one takes over as a whole", async () => {
  const { memory, opened, gate } = await switching();
  await memory.configure({ embedder: next });
  await until("the next one is asked", () => gate.calls > 0);
  expect(await answers(memory, "word7")).toEqual(["i7"]);
  expect((await memory.store.stats()).embedder).toBe("toy/hash/64");
  // Items that are added, changed and removed during the switch.
  memory.add("new", { text: "fresh" });
  memory.say("update", "i3", { text: "other" });
  memory.say("delete", "i5", {});
  await memory.project();
  expect(await answers(memory, "fresh")).toEqual(["new"]);
  gate.open();
  let wasWrong = 0;
  const asking = (async () => {
    for (let times = 0; times < 60; times += 1) {
      const index = times % items;
      const [id] = await answers(memory, index === 3 ? "other" : `word${index}`);
      if (id !== (index === 5 ? undefined : `i${index}`)) wasWrong += 1;
    }
  })();
  await memory.store.idle();
  await asking;
  await until("the new one serves", async () => (await memory.store.stats()).embedder === "toy/next/32");
  await memory.store.idle();
  expect(wasWrong).toBe(0);
  const stats = await memory.store.stats();
  expect(stats).toMatchObject({ vectors: { dimensions: 32, count: items, pending: 0, failed: 0 } });
  expect(stats).not.toHaveProperty("rebuilding");
  expect([
    await answers(memory, "fresh"),
    await answers(memory, "other"),
    await answers(memory, "word5"),
  ]).toEqual([["new"], ["i3"], []]);
  const progress = memory.notices.flatMap((each) => (each.kind === "progress" ? [each] : []));
  expect(progress.at(-1)).toMatchObject({ what: "embeddings", done: items, total: items });
  expect(progress.map(({ done }) => done)).toEqual(
    progress.map(({ done }) => done).toSorted((a, b) => a - b),
  );
  expect(opened.map(({ name, isClosed }) => [name, isClosed])).toEqual([
    ["toy/hash/64", true],
    ["toy/next/32", false],
  ]);
  await memory.reopen();
  expect(await answers(memory, "fresh")).toEqual(["new"]);
});

test("killed halfway: the old one serves again, and vectors made for the new one are reused", async () => {
  const { memory, opened, gate } = await switching();
  await memory.configure({ embedder: next });
  await until("the next one is asked", () => gate.calls > 0);
  gate.open();
  await until("half of it is there", async () => {
    const [count] = await memory.file.all<{ count: number }>(
      "SELECT count(*) AS count FROM knowledge_vectors WHERE space = 'made:toy/next/32'",
    );
    return (count?.count ?? 0) >= 32;
  });
  const before = memory.store;
  await before[Symbol.asyncDispose]();
  const asked = opened[1]?.asked.length ?? 0;
  await memory.reopen(false);
  expect(await answers(memory, "word7")).toEqual(["i7"]);
  await until("the new one serves", async () => (await memory.store.stats()).embedder === "toy/next/32");
  expect(await answers(memory, "word7")).toEqual(["i7"]);
  const askedAfter = opened.at(-1)?.asked.filter((text) => text.startsWith("word")) ?? [];
  expect(asked).toBeGreaterThanOrEqual(32);
  expect(new Set(askedAfter).size).toBeLessThanOrEqual(items - 32 + 1);
});

test("a new one that does not answer, or refuses everything, never takes over; switching back drops its vectors", async () => {
  const { memory, gate } = await switching();
  for (const isRetryable of [true, false]) {
    gate.fail = new EmbeddingError("no", { isRetryable });
    gate.calls = 0;
    await memory.configure({ embedder: next });
    await memory.store.idle();
    expect(gate.calls).toBeGreaterThan(0);
    expect((await memory.store.stats()).embedder).toBe("toy/hash/64");
    expect(await answers(memory, "word7")).toEqual(["i7"]);
    await memory.configure({ embedder: { kind: "hash" } });
    await memory.store.idle();
  }
  expect(await answers(memory, "word7")).toEqual(["i7"]);
  expect(await memory.file.all("SELECT DISTINCT space FROM knowledge_vectors")).toEqual([
    { space: "made:toy/hash/64" },
  ]);
});

test("an embedder that opens slowly blocks nobody; refused, it is retried; then it takes over", async () => {
  const clock = new ManualClock(startMs);
  const opening = Promise.withResolvers<void>();
  let tries = 0;
  const memory = await testKnowledge({
    clock,
    openEmbedder: async (spec) => {
      if (spec.kind === "hash") return new ToyEmbedder(spec);
      tries += 1;
      if (tries === 1) throw new EmbeddingError("not now", { isRetryable: true });
      await opening.promise;
      return new ToyEmbedder(spec);
    },
  });
  memory.add("a", { text: "beach" });
  await memory.project();
  await memory.configure({ embedder: next });
  expect(await answers(memory, "beach")).toEqual(["a"]);
  clock.advance(2_000);
  await until("the second try", () => tries === 2);
  const asked = answers(memory, "beach");
  clock.advance(1_000);
  expect(await asked).toEqual(["a"]);
  expect((await memory.store.stats()).embedder).toBe("toy/hash/64");
  opening.resolve();
  await until("the new one serves", async () => (await memory.store.stats()).embedder === "toy/next/32");
  expect(await answers(memory, "beach")).toEqual(["a"]);
  expect(tries).toBe(2);
});

test("with an embedder that cannot be opened, items are found by their words", async () => {
  const memory = await testKnowledge({
    openEmbedder: () => Promise.reject(new Error("no such model")),
  });
  memory.add("a", { text: "beach" });
  await memory.project();
  const { items: found } = await memory.store.query({ similar_to: "beach" }, startMs);
  expect(found).toMatchObject([{ id: "a", embedded: false }]);
  expect(memory.notices).toContainEqual(
    expect.objectContaining({ kind: "log", level: "warn", message: "no such model" }),
  );
});

test("another engine takes over in the background, with the same vectors, and is saved", async () => {
  const { memory } = await switching();
  await memory.configure({ vectors: "usearch" });
  expect(await answers(memory, "word7")).toEqual(["i7"]);
  await memory.store.idle();
  expect((await memory.store.stats()).vectors).toMatchObject({ engine: "usearch", count: items });
  memory.say("delete", "i7", {});
  await memory.project();
  expect(await answers(memory, "word7")).toEqual([]);
  await memory.reopen();
  expect((await memory.store.stats()).vectors.engine).toBe("usearch");
  expect(await answers(memory, "word8")).toEqual(["i8"]);
});

test("the stored description of an embedder contains no key", async () => {
  const memory = await testKnowledge({
    settings: { embedder: { kind: "openai-compatible", url: "http://here", model: "m", key: "secret-key" } },
  });
  const facts = JSON.stringify(await memory.file.all("SELECT * FROM knowledge_facts"));
  expect(facts).toContain("http://here");
  expect(facts).not.toContain("secret-key");
});
