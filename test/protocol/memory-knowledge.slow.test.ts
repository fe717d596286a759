import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bench, leave } from "../support/bench.ts";
import { memoryFolder, rememberer, Remembering } from "../support/memory.ts";
import { isAlive, until } from "../support/until.ts";

const ID = "test.atlas";
interface Item {
  id: string;
  variant: string;
  data: { name: string };
  text?: string;
  similarity?: number;
  importance: number;
  relations: { to: string; relation: string }[];
  embedded: boolean;
}
interface Found {
  items: Item[];
}

let bench: Bench;
let atlas: Remembering;
let ids: Record<string, string>;
const places = {
  sete: { variant: "place", at: [43.4, 3.7], text: "A quiet beach by the sea, good for swimming in summer" },
  nice: { variant: "place", at: [43.7, 7.27], text: "Pebble beach along a promenade, crowded in summer" },
  fiji: { variant: "place", at: [-17.7, 179.9], text: "Island with coral reefs, diving and warm sea" },
  alps: { variant: "place", at: [45.9, 6.9], text: "Mountain hut above the glacier, start before sunrise" },
  ada: { variant: "person", at: null, text: "Ada likes swimming and hates mountains" },
};

beforeAll(async () => {
  bench = await Bench.create({ extensions: [rememberer(ID)] });
  atlas = new Remembering(await bench.open(), ID);
  ids = await atlas.run(
    `const ids = {};
     for (const [name, { variant, at, text }] of Object.entries(args.places))
       ids[name] = await ctx.memory.knowledge.add(variant, { name, at }, { text });
     await ctx.memory.knowledge.relate(ids.ada, ids.sete, "RelatedTo");
     await ctx.memory.knowledge.relate(ids.sete, ids.nice, "PartOf");
     await ctx.memory.knowledge.relate(ids.nice, ids.sete, "PartOf");
     return ids;`,
    { places },
  );
});
afterAll(() => bench[Symbol.asyncDispose]());

const ask = async (fields: object): Promise<string[]> =>
  (await atlas.query<Found>("associative", fields)).items.map(({ data }) => data.name);

describe("knowledge, queried by a client", () => {
  test("similar items: the nearest first, with their similarity", async () => {
    const { items } = await atlas.query<Found>("associative", {
      similar_to: "swimming at a beach in summer",
      top_k: 3,
    });
    expect(items[0]?.data.name).toBe("sete");
    expect(items.map(({ data }) => data.name)).toContain("nice");
    expect(items).toHaveLength(3);
    const similarities = items.map(({ similarity = NaN }) => similarity);
    expect(similarities).toEqual(similarities.toSorted((a, b) => b - a));
    expect(similarities[0]).toBeGreaterThan(0);
    expect(items[0]).toMatchObject({ embedded: true, id: ids["sete"], text: places.sete.text });
  });

  test.each<[string, Record<string, unknown>, string[]]>([
    ["the same words: itself", { similar_to: places.alps.text, top_k: 1 }, ["alps"]],
    [
      "above a similarity that nothing else has",
      { similar_to: places.ada.text, min_similarity: 0.99 },
      ["ada"],
    ],
    ["of one variant", { variant: "person" }, ["ada"]],
    ["of a variant there is not", { variant: "dream" }, []],
    ["like this, of one variant", { similar_to: "swimming", variant: "person", top_k: 1 }, ["ada"]],
    ["by a field", { where: [{ field: "name", op: "eq", value: "fiji" }] }, ["fiji"]],
    ["near", { where: [{ field: "at", op: "near", value: [43.5, 3.6], km: 50 }] }, ["sete"]],
    [
      "near, over the date line",
      { where: [{ field: "at", op: "near", value: [-17.7, -179.9], km: 50 }] },
      ["fiji"],
    ],
    ["related, one step", { related_to: { id: "ada" } }, ["sete"]],
  ])("%s", async (_name, fields, expected) => {
    const related = fields["related_to"] as { id: string } | undefined;
    const asked =
      related === undefined ? fields : { ...fields, related_to: { ...related, id: ids[related.id] } };
    expect(await ask(asked)).toEqual(expected);
  });

  test("related in two steps, around a circle, without the start", async () => {
    const names = await ask({ related_to: { id: ids["ada"], depth: 2 } });
    expect(names.toSorted()).toEqual(["nice", "sete"]);
    expect(await ask({ related_to: { id: ids["sete"], depth: 5, relation: "PartOf" } })).toEqual(["nice"]);
  });

  test("everything, the most important first", async () => {
    await atlas.run(`await ctx.memory.knowledge.update(args.id, { importance: 1 });`, { id: ids["alps"] });
    const { items } = await atlas.query<Found>("associative", {});
    expect(items).toHaveLength(5);
    expect(items[0]?.data.name).toBe("alps");
    expect(items[0]?.importance).toBeLessThanOrEqual(1);
  });

  test("text that looks like SQL or full-text syntax is only words", async () => {
    for (const text of ["'; DROP TABLE items; --", '" OR 1', "NEAR(a b)", "*"]) {
      await atlas.query<Found>("associative", { similar_to: text });
    }
    expect(await ask({})).toHaveLength(5);
  });
});

describe("an agent's changes", () => {
  test("an updated item is found by its new words and no longer by its old ones", async () => {
    const names = await atlas.run<string[][]>(
      `const id = await ctx.memory.knowledge.add("note", { name: "draft" }, { text: "zucchini casserole" });
       await ctx.memory.knowledge.update(id, { text: "telescope eyepiece" });
       const like = async (text) => (await ctx.memory.knowledge.query().similarTo(text).minSimilarity(0.5).collect()).map(({ data }) => data.name);
       const found = [await like("telescope eyepiece"), await like("zucchini casserole")];
       await ctx.memory.knowledge.remove(id);
       return [...found, await like("telescope eyepiece")];`,
    );
    expect(names).toEqual([["draft"], [], []]);
  });

  test("a nearly equal item is related to the one it updates", async () => {
    const answer = await atlas.run<{ first: string; relations: Item["relations"] }>(
      `const text = "The harbour café closes at nine on weekdays";
       const first = await ctx.memory.knowledge.add("fact", { name: "old" }, { text });
       const second = await ctx.memory.knowledge.add("fact", { name: "new" }, { text: text + "!" });
       const [item] = await ctx.memory.knowledge.query().whereField("name", "new").collect();
       await ctx.memory.knowledge.remove(first);
       await ctx.memory.knowledge.remove(second);
       return { first, relations: item.relations };`,
    );
    expect(answer.relations).toEqual([{ to: answer.first, relation: "Updates" }]);
  });

  test("items with their own embeddings are found by similar ones; the first one sets the dimensions", async () => {
    const names = await atlas.run<string[]>(
      `for (const [name, embedding] of Object.entries(args.vectors))
         await ctx.memory.knowledge.add("vector", { name }, { embedding });
       const found = await ctx.memory.knowledge.query().similarToEmbedding([0.9, 0.1, 0, 0]).topK(2).collect();
       return found.map(({ data }) => data.name);`,
      { vectors: { east: [1, 0, 0, 0], north: [0, 1, 0, 0], up: [0, 0, 1, 0] } },
    );
    expect(names).toEqual(["east", "north"]);
    for (const embedding of [[1, 2, 3], [1, 0, 0, null], [], ["1", 0, 0, 0], [0, 0, 0, 0]]) {
      for (const body of [
        `await ctx.memory.knowledge.add("vector", {}, { embedding: args.embedding });`,
        `const [{ id }] = await ctx.memory.knowledge.query().whereField("name", "up").collect();
         await ctx.memory.knowledge.update(id, { embedding: args.embedding });`,
        `await ctx.memory.knowledge.query().similarToEmbedding(args.embedding).collect();`,
      ]) {
        const { code } = await atlas.refusal(body, { embedding });
        expect(code, `${JSON.stringify(embedding)}: ${body}`).toBe("InvalidParams");
      }
    }
    await atlas.run(
      `for (const { id } of await ctx.memory.knowledge.query().variant("vector").collect())
         await ctx.memory.knowledge.remove(id);`,
    );
  });

  test.each([
    [`await ctx.memory.knowledge.update("00000000-0000-7000-8000-000000000000", { importance: 1 });`],
    [`await ctx.memory.knowledge.remove("00000000-0000-7000-8000-000000000000");`],
    [`await ctx.memory.knowledge.relate("00000000-0000-7000-8000-000000000000", "x", "RelatedTo");`],
  ])("what is not there is NotFound: %s", async (body) => {
    expect(await atlas.refusal(body)).toMatchObject({ code: "NotFound" });
  });
});

describe("search", () => {
  interface Hits {
    items: { id: string; kind: string; score: number; data?: { name?: string } }[];
    mode: string;
  }
  beforeAll(() =>
    atlas.run(
      `await ctx.memory.history.append("walk", { name: "walk", text: "swam at the beach before the storm" });`,
    ),
  );

  test.each(["text", "vector", "hybrid"])("%s finds the beach", async (mode) => {
    const { items, mode: done } = await atlas.query<Hits>("search", { text: "swimming at the beach", mode });
    expect(done).toBe(mode);
    expect(items.length).toBeGreaterThan(0);
    expect(items.slice(0, 3).map(({ data }) => data?.name)).toContain("sete");
    const scores = items.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  });

  test("auto chooses hybrid if there is an embedder, and finds events and knowledge", async () => {
    const { items, mode } = await atlas.query<Hits>("search", { text: "beach" });
    expect(mode).toBe("hybrid");
    expect(new Set(items.map(({ kind }) => kind))).toEqual(new Set(["temporal", "associative"]));
  });

  test("no more than the limit; unknown words find nothing by text", async () => {
    expect((await atlas.query<Hits>("search", { text: "beach", limit: 1 })).items).toHaveLength(1);
    expect((await atlas.query<Hits>("search", { text: "xylophone", mode: "text" })).items).toEqual([]);
  });
});

test("after all projections were deleted, everything is rebuilt from the journal", async () => {
  const { pid } = await bench.status(atlas.client);
  const before = await ask({});
  const folder = await memoryFolder(bench, atlas.client, ID);
  await leave(atlas.client);
  await until("the kernel to end", () => !isAlive(pid));
  for (const name of await readdir(folder)) {
    if (name !== "journal") await rm(join(folder, name), { recursive: true });
  }
  atlas = new Remembering(await bench.open(), ID);
  expect((await ask({})).toSorted()).toEqual(before.toSorted());
  expect(await ask({ similar_to: places.alps.text, top_k: 1 })).toEqual(["alps"]);
  expect(await ask({ related_to: { id: ids["ada"] } })).toEqual(["sete"]);
  expect(await atlas.verify()).toMatchObject({ ok: true });
});
