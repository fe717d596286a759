import { expect, test } from "vitest";
import { createHashEmbedder } from "../../embedding/hash.ts";
import { type Embedder, EmbeddingError } from "../../embedding/port.ts";
import type { EmbedderSpec } from "../../../memory-contract/store-settings.ts";
import { startMs, type TestKnowledge, testKnowledge } from "../testing/test-knowledge.ts";
import { ToyEmbedder } from "../testing/toy-embedder.ts";

async function filled(openEmbedder?: (spec: EmbedderSpec) => Promise<Embedder>): Promise<TestKnowledge> {
  const memory = await testKnowledge(openEmbedder === undefined ? {} : { openEmbedder });
  memory.add("beach", { text: "a day at the beach", relations: [{ to: "hotel", relation: "PartOf" }] });
  memory.add("hotel", { text: "quiet rooms" });
  memory.add("snow", { text: "snow in the mountains" });
  const seq = memory.say("store", "event", {
    variant: "Seen",
    timestamp: "2026-01-01T00:00:00.000Z",
    data: { what: "beach" },
  });
  memory.journal[seq - 1] = { ...memory.journal[seq - 1]!, kind: "temporal" };
  memory.events.set(seq, {
    id: "event",
    variant: "Seen",
    timestamp: "2026-01-01T00:00:00.000Z",
    data: { what: "beach" },
  });
  await memory.project();
  return memory;
}

test("text: events and items by their words, each with the fields of its own queries", async () => {
  const memory = await filled();
  const { items, mode } = await memory.store.search({ text: "beach", mode: "text" }, startMs);
  expect(mode).toBe("text");
  // Followed by the items that were said next to it.
  expect(items.slice(2).map(({ id }) => id)).toEqual(["hotel", "snow"]);
  expect(items.slice(0, 2)).toEqual([
    {
      kind: "temporal",
      id: "event",
      score: 2 / 11,
      variant: "Seen",
      timestamp: "2026-01-01T00:00:00.000Z",
      data: { what: "beach" },
    },
    expect.objectContaining({
      kind: "associative",
      id: "beach",
      score: 2 / 11,
      text: "a day at the beach",
      embedded: true,
    }),
  ]);
});

test("hybrid: weighted reciprocal ranks over words, similarity and relations; the newest first among equals", async () => {
  const memory = await filled();
  const { items, mode } = await memory.store.search({ text: "beach" }, startMs);
  expect(mode).toBe("hybrid");
  const score = Object.fromEntries(items.map((hit) => [hit.id, hit.score]));
  // By words, by similarity, and the best themselves come first; an event has words only.
  expect(items[0]?.id).toBe("beach");
  expect(score["beach"]).toBeCloseTo(2 / 11 + 1 / 11 + 1 / 11, 10);
  expect(score["event"]).toBeCloseTo(2 / 11, 10);
  // The neighbour of the best in time, then by similarity, then related items.
  expect(score["hotel"]).toBeGreaterThan(2 / 12 + 1 / 12);
});

test("similarity has no weight if the embedder knows only words that the full text has", async () => {
  const memory = await testKnowledge({
    openEmbedder: async () => createHashEmbedder({ dimensions: 64 }),
  });
  memory.add("beach", { text: "a day at the beach" });
  memory.add("snow", { text: "snow in the mountains" });
  await memory.project();
  const scores = async (text: string): Promise<Record<string, number>> => {
    const { items } = await memory.store.search({ text }, startMs);
    return Object.fromEntries(items.map(({ id, score }) => [id, score]));
  };
  expect((await scores("beach"))["beach"]).toBeCloseTo(2 / 11, 10);
  expect((await scores("mountanes"))["snow"]).toBeCloseTo(1 / 11, 10);
});

test("vector: items only, by similarity", async () => {
  const memory = await filled();
  const { items, mode } = await memory.store.search({ text: "mountains", mode: "vector", limit: 1 }, startMs);
  expect([mode, items.map(({ id, kind }) => [id, kind])]).toEqual(["vector", [["snow", "associative"]]]);
});

test("without an embedder that answers: text, unless vector is asked for by name", async () => {
  const memory = await filled(async (spec) => {
    const embedder = new ToyEmbedder(spec);
    embedder.before = () => {
      throw new EmbeddingError("no answer", { isRetryable: true });
    };
    return embedder;
  });
  for (const mode of ["auto", "hybrid"] as const) {
    const page = await memory.store.search({ text: "beach", mode }, startMs);
    expect([page.mode, page.items.map(({ id }) => id)]).toEqual([
      "text",
      ["event", "beach", "hotel", "snow"],
    ]);
  }
  await expect(memory.store.search({ text: "beach", mode: "vector" }, startMs)).rejects.toMatchObject({
    code: "VectorSearchNotConfigured",
  });
  const { items } = await memory.store.query({ similar_to: "beach", variant: "Fact" }, startMs);
  expect(items).toEqual([expect.objectContaining({ id: "beach", embedded: false })]);
  expect(items[0]).not.toHaveProperty("similarity");
});

test.each(["", " \n"])("for an empty query (%j), nothing is found", async (text) => {
  const memory = await filled();
  for (const mode of ["auto", "text", "vector", "hybrid"] as const) {
    expect((await memory.store.search({ text, mode }, startMs)).items).toEqual([]);
  }
  expect(await memory.ids({ similar_to: text })).toEqual([]);
});

test("the best in every ranking stays first, however many related items follow it", async () => {
  const memory = await testKnowledge();
  memory.add("dunes", { text: "dunes dunes dunes" });
  for (let n = 0; n < 6; n++) {
    const relations = Array.from({ length: n }, (_, other) => ({ to: `sea-${other}`, relation: "PartOf" }));
    memory.add(`sea-${n}`, { text: `dunes and the sea, number ${n}`, relations });
  }
  await memory.project();
  const { items } = await memory.store.search({ text: "dunes dunes dunes" }, startMs);
  expect(items[0]?.id).toBe("dunes");
});
