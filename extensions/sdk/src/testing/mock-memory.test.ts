import { describe, expect, it } from "vitest";
import { mockContext } from "./index.ts";

const start = Date.parse("2026-11-20T12:00:00.000Z");

/** Five days of one photographer. */
async function remembered() {
  let now = start;
  const ctx = mockContext({ clock: { now: () => now } });
  const { history, knowledge } = ctx.memory;
  const add = (variant: string, daysAgo: number, data: object) =>
    history.append(variant, data, { timestamp: start - daysAgo * 86_400_000 });
  await add("Photo", 4, {
    name: "sea.jpg",
    note: "The beach at noon",
    size: 3,
    at: [43.7, 7.2],
    tags: ["sea"],
  });
  await add("Photo", 2, { name: "snow.jpg", note: "First snow", size: 10, at: { lat: 47.3, lon: 11.4 } });
  await add("Note", 2, { text: "Left the beach early", place: { name: "Nice" } });
  await history.append("Photo", { name: "late.jpg", size: "10" });
  const sea = await knowledge.add(
    "Place",
    { name: "Nice", at: [43.7, 7.25] },
    { text: "a beach by the sea" },
  );
  const snow = await knowledge.add(
    "Place",
    { name: "Innsbruck", at: [47.27, 11.4] },
    { text: "snow and skis", importance: 0.9 },
  );
  const walk = await knowledge.add(
    "Fact",
    { says: "walks along the sea" },
    { relations: [{ to: sea, relation: "PartOf" }] },
  );
  return { ctx, history, knowledge, sea, snow, walk, later: (ms: number) => (now += ms) };
}

const names = (items: readonly { data: { name?: string; text?: string } }[]): unknown[] =>
  items.map(({ data }) => data.name ?? data.text);

describe("what happened", () => {
  it("is found by variant, time, words, conditions and place, newest first", async () => {
    const { history } = await remembered();
    const q = () => history.query();
    expect(names(await q().collect())).toEqual(["late.jpg", "Left the beach early", "snow.jpg", "sea.jpg"]);
    expect(names(await q().variant("Photo").orderByTime("asc").limit(2).collect())).toEqual([
      "sea.jpg",
      "snow.jpg",
    ]);
    expect(names(await q().since("3d").until("1d").collect())).toEqual(["Left the beach early", "snow.jpg"]);
    expect(names(await q().between("2026-11-16", "2026-11-17").collect())).toEqual(["sea.jpg"]);
    // Both are of that moment: "from" is in, "until" is out.
    expect(await q().since(start).count()).toBe(1);
    expect(await q().until(start).count()).toBe(3);
    expect(names(await q().whereText("BEACH the").collect())).toEqual(["Left the beach early", "sea.jpg"]);
    expect(names(await q().whereText("note", "beach").collect())).toEqual(["sea.jpg"]);
    expect(await q().whereText("bea").count()).toBe(0);
    expect(await q().whereText("!?").count()).toBe(0);
    // A text is not a number: "10" is not above 3.
    expect(names(await q().where("size", "gt", 3).collect())).toEqual(["snow.jpg"]);
    expect(names(await q().where("tags", "contains", "sea").collect())).toEqual(["sea.jpg"]);
    expect(names(await q().where("tags.0", "in", ["sea", 1]).collect())).toEqual(["sea.jpg"]);
    expect(await q().where("place.name", "ne", "Nice").count()).toBe(3);
    expect(names(await q().near("at", [47, 11], 60).collect())).toEqual(["snow.jpg"]);
  });

  it("is counted, also by variant and time, and paged through", async () => {
    const { history } = await remembered();
    expect(await history.query().variant("Photo").limit(1).count()).toBe(3);
    expect(await history.query().countBy("variant")).toEqual({ Photo: 3, Note: 1 });
    expect(await history.query().variant("Note").countBy("hour")).toEqual({ "2026-11-18T12:00:00.000Z": 1 });
    expect(await history.query().countBy("day")).toEqual({
      "2026-11-16T00:00:00.000Z": 1,
      "2026-11-18T00:00:00.000Z": 2,
      "2026-11-20T00:00:00.000Z": 1,
    });
    const { items, total } = await history.query().limit(2).offset(1).page();
    expect([names(items), total]).toEqual([["Left the beach early", "snow.jpg"], 4]);
  });

  it("is forgotten when it is older than retention allows", async () => {
    const { ctx, history, later } = await remembered();
    later(1);
    await ctx.memory.cleanup({ retentionDays: 2 });
    expect(names(await history.query().collect())).toEqual(["late.jpg"]);
    expect(ctx.recorded.history).toHaveLength(1);
  });
});

describe("what is known", () => {
  it("is found by similarity, by its fields, by its place and by its relations", async () => {
    const { knowledge, sea, snow, walk } = await remembered();
    const ids = (items: readonly { id: string }[]) => items.map(({ id }) => id);
    const [first, ...others] = await knowledge.query().similarTo("the sea and its beach").collect();
    expect(first).toMatchObject({ id: sea, text: "a beach by the sea", embedded: true, relations: [] });
    expect(first?.similarity).toBeGreaterThan(0.3);
    expect(others).toHaveLength(2);
    expect(ids(await knowledge.query().similarTo("skis").minSimilarity(0.2).collect())).toEqual([snow]);
    expect(ids(await knowledge.query().variant("Place").collect())).toEqual([snow, sea]);
    expect(ids(await knowledge.query().near("at", [43.7, 7.2], 10).collect())).toEqual([sea]);
    expect(ids(await knowledge.query().relatedTo(sea).collect())).toEqual([walk]);
    expect(ids(await knowledge.query().relatedTo(walk, 1, "PartOf").collect())).toEqual([sea]);
    expect(ids(await knowledge.query().relatedTo(walk, 1, "CausedBy").collect())).toEqual([]);
    await knowledge.relate(sea, snow, "RelatedTo");
    expect(ids(await knowledge.query().relatedTo(walk, 2).topK(5).collect()).toSorted()).toEqual(
      [sea, snow].toSorted(),
    );
    await knowledge.remove(sea);
    expect(ids(await knowledge.query().relatedTo(walk, 5).collect())).toEqual([]);
  });

  it("relates an item to the one of its variant that it is a newer form of, behind the answer", async () => {
    const { knowledge, sea } = await remembered();
    const again = await knowledge.record("Place", { name: "Nice" }, { text: "a beach by the sea!" });
    expect(again).toEqual({ id: expect.any(String) as string });
    const [item] = await knowledge.query().relatedTo(sea, 1, "Updates").collect();
    expect(item).toMatchObject({ id: again.id, relations: [{ to: sea, relation: "Updates" }] });
    const other = await knowledge.add("Fact", {}, { text: "a beach by the sea" });
    const updating = await knowledge.query().relatedTo(sea, 1, "Updates").collect();
    expect(updating.map(({ id }) => id)).not.toContain(other);
  });

  it("keeps embeddings of the agent's own apart, and all of one length", async () => {
    const { knowledge } = await remembered();
    const id = await knowledge.add("Face", { who: "a" }, { embedding: new Float32Array([1, 0.5]) });
    const [face, ...none] = await knowledge.query().similarToEmbedding([2, 1]).collect();
    expect([face?.id, none]).toEqual([id, []]);
    expect(face?.similarity).toBeCloseTo(1, 5);
    await expect(knowledge.query().similarToEmbedding([1, 2, 3]).collect()).rejects.toMatchObject({
      code: "InvalidParams",
    });
  });
});

describe("search", () => {
  it("searches both, names the mode that was used, and the kind of each hit", async () => {
    const { ctx, sea } = await remembered();
    const hits = await ctx.memory.search("beach", { limit: 3 });
    expect(hits.mode).toBe("hybrid");
    expect(hits[0]).toMatchObject({ kind: "associative", id: sea, variant: "Place" });
    expect(hits.filter(({ kind }) => kind === "temporal").map(({ variant }) => variant)).toEqual([
      "Note",
      "Photo",
    ]);
    const text = await ctx.memory.search("beach", { mode: "text" });
    expect([text.mode, text.length]).toEqual(["text", 3]);
    expect((await ctx.memory.search(" ")).length).toBe(0);
  });
});

describe("refusals are those of the kernel", () => {
  it.each<[string, string, (memory: Awaited<ReturnType<typeof remembered>>) => Promise<unknown>]>([
    ["a time that is none", "InvalidParams", ({ history }) => history.query().since("yesterday-ish").count()],
    ["an age as a timestamp", "InvalidParams", ({ history }) => history.append("A", 1, { timestamp: "7d" })],
    ["more than 1,000", "InvalidParams", ({ history }) => history.query().limit(1001).collect()],
    [
      "a range of truth values",
      "InvalidParams",
      ({ history }) => history.query().where("a", "gt", true).count(),
    ],
    ["an empty key", "InvalidParams", ({ history }) => history.query().whereField("a..b", 1).count()],
    [
      "a place off the globe",
      "InvalidParams",
      ({ history }) => history.query().near("at", [91, 0], 1).count(),
    ],
    ["depth 6", "InvalidParams", ({ knowledge, sea }) => knowledge.query().relatedTo(sea, 6).collect()],
    [
      "both similarities",
      "InvalidParams",
      ({ knowledge }) => knowledge.query().similarTo("a").similarToEmbedding([1]).collect(),
    ],
    ["importance 2", "InvalidParams", ({ knowledge }) => knowledge.add("A", 1, { importance: 2 })],
    ["an empty text", "InvalidParams", ({ knowledge }) => knowledge.add("A", 1, { text: "" })],
    ["a zero embedding", "InvalidParams", ({ knowledge }) => knowledge.add("A", 1, { embedding: [0, 0] })],
    ["no change", "InvalidParams", ({ knowledge, sea }) => knowledge.update(sea, {})],
    ["an unknown item", "NotFound", ({ knowledge }) => knowledge.update("nobody", { importance: 1 })],
    ["a relation to nobody", "NotFound", ({ knowledge, sea }) => knowledge.relate(sea, "nobody", "PartOf")],
    ["another's memory", "PermissionDenied", ({ ctx }) => ctx.memory.in("team").search("x")],
  ])("%s is %s", async (_, code, ask) => {
    await expect((async () => ask(await remembered()))()).rejects.toMatchObject({ name: "LaresError", code });
  });

  it("a shared memory is apart from the agent's own, and read-only if it was granted so", async () => {
    const ctx = mockContext({ grants: { namespaces: { team: "read_write", archive: "read" } } });
    await ctx.memory.in("team").history.append("Met", {});
    await ctx.memory.in("team").plan.set({ turn: 1 });
    expect(await ctx.memory.in("team").history.query().count()).toBe(1);
    expect(await ctx.memory.history.query().count()).toBe(0);
    expect(await ctx.memory.in("archive").history.query().count()).toBe(0);
    await expect(ctx.memory.in("archive").history.append("Met", {})).rejects.toMatchObject({
      code: "PermissionDenied",
    });
  });
});
