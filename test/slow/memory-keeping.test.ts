import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canonicalJson } from "../../kernel/src/base/json.ts";
import { chainStart } from "../../kernel/src/memory-contract/records.ts";
import { encodeRecord } from "../../kernel/src/journal/record.ts";
import { agent, Bench, leave } from "../support/bench.ts";
import { memoryFolder, rememberer, Remembering } from "../support/memory.ts";
import { isAlive, until } from "../support/until.ts";

const ID = "test.keeper";
const SMALL = "test.small";
const PRUNED = "test.pruned";
interface Found {
  items: { id: string; data: { word?: string } }[];
  total?: number;
}

let bench: Bench;
let keeper: Remembering;
beforeAll(async () => {
  bench = await Bench.create({
    extensions: [
      rememberer(ID),
      rememberer(SMALL, { resources: { max_storage_mb: 1 } }),
      rememberer(PRUNED, { agent: { memory_prune: { below_importance: 0.2, older_than_days: 30 } } }),
    ],
  });
  keeper = new Remembering(await bench.open(), ID);
});
afterAll(() => bench[Symbol.asyncDispose]());

/** Returns the names of the files of a folder, at any depth, that contain the word. */
async function filesWith(folder: string, word: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const holding: string[] = [];
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    if ((await readFile(path)).includes(word)) holding.push(path.slice(folder.length + 1));
  }
  return holding;
}

describe("forgetting", () => {
  test("an event and an item are gone from queries, from search and from every file; the chain is still valid", async () => {
    const { event, item } = await keeper.run<{ event: string; item: string }>(
      `const event = await ctx.memory.history.append("secret", { word: "Quastenflosser" });
       const item = await ctx.memory.knowledge.add("secret", { word: "Quastenflosser" }, { text: "the Quastenflosser is a fish" });
       await ctx.memory.history.append("other", { word: "remains" });
       return { event, item };`,
    );
    expect((await keeper.query<Found>("temporal", { text: { match: "Quastenflosser" } })).total).toBe(1);
    const { records } = await keeper.verify();
    for (const id of [event, item]) {
      const { seq } = await keeper.client.request<{ seq: number }>("lares/memory/forget", {
        agent: ID,
        id,
        reason: "asked to",
      });
      expect(seq).toBeGreaterThan(records);
    }
    expect((await keeper.query<Found>("temporal", { text: { match: "Quastenflosser" } })).total).toBe(0);
    expect((await keeper.query<Found>("temporal", { variant: "other" })).total).toBe(1);
    expect((await keeper.query<Found>("associative", { variant: "secret" })).items).toEqual([]);
    expect((await keeper.query<Found>("search", { text: "Quastenflosser", mode: "text" })).items).toEqual([]);
    expect(await keeper.verify()).toMatchObject({ ok: true });
    // The index and DuckDB's log may be written later; the final state counts.
    const folder = await memoryFolder(bench, keeper.client, ID);
    const { pid } = await bench.status(keeper.client);
    await leave(keeper.client);
    await until("the kernel to end", () => !isAlive(pid));
    expect(await filesWith(folder, "Quastenflosser")).toEqual([]);
    expect(await filesWith(folder, "remains")).not.toEqual([]);
    keeper = new Remembering(await bench.open(), ID);
    // The memory was not opened yet.
    const { metrics } = await agent(keeper.client, ID);
    expect(metrics).toMatchObject({ temporal_events_count: 1, knowledge_items_count: 0 });
    expect(await keeper.verify()).toMatchObject({ ok: true });
  });

  test("an unknown id is NotFound", async () => {
    const { error } = await keeper.client.raw("lares/memory/forget", {
      agent: ID,
      id: "00000000-0000-7000-8000-000000000000",
    });
    expect(error).toMatchObject({ code: -33001 });
  });
});

describe("retention", () => {
  test("cleanup drops only older events", async () => {
    const left = await keeper.run<number>(
      `for (let days = 1; days <= 10; days++)
         await ctx.memory.history.append("aged", { days }, { timestamp: new Date(Date.now() - days * 86_400_000) });
       await ctx.memory.cleanup({ retentionDays: 5 });
       return ctx.memory.history.query().variant("aged").count();`,
    );
    // The fifth was created a moment more than five days ago.
    expect(left).toBe(4);
    expect(await keeper.verify()).toMatchObject({ ok: true });
  });
});

describe("unused knowledge", () => {
  test("knowledge that the manifest allows to prune is removed by a cleanup; important, found or recent items stay", async () => {
    const pruned = new Remembering(keeper.client, PRUNED);
    const yearMs = 365 * 86_400_000;
    const journal = join(await memoryFolder(bench, keeper.client, PRUNED), "journal");
    await mkdir(journal, { recursive: true });
    let end = chainStart;
    const lines = [0.1, 0.1, 0.9].map((importance, index) => {
      const data = { data: { word: `w${index}` }, importance, text: `thing w${index}`, variant: "old" };
      const record = encodeRecord(
        { operation: "store", kind: "knowledge", id: `old-${index}`, data: canonicalJson(data) },
        end,
        "5a".repeat(16),
        Date.now() - yearMs,
      );
      end = record.end;
      return record.line;
    });
    await writeFile(join(journal, "000001.ndjson"), lines.join(""));
    const words = await pruned.run<string[]>(
      `await ctx.memory.knowledge.add("young", { word: "new" }, { text: "something new", importance: 0 });
       await ctx.memory.knowledge.query().similarTo("thing w1").topK(1).collect();
       await ctx.memory.cleanup({ retentionDays: 36500 });
       return (await ctx.memory.knowledge.query().topK(10).collect()).map(({ data }) => data.word).sort();`,
    );
    expect(words).toEqual(["new", "w1", "w2"]);
    expect(await pruned.verify()).toMatchObject({ ok: true });
    // The policy travels with the memory.
    const written = await readFile(join(journal, "000001.ndjson"), "utf8");
    expect(written).toContain('"prune":{"below_importance":0.2,"older_than_days":30}');
  });
});

describe("a memory with a limit of 1 MiB", () => {
  test("a write over the limit is LimitExceeded, stores nothing, and changes nothing", async () => {
    const small = new Remembering(keeper.client, SMALL);
    const outcome = await small.run<{ written: number; refusal: { code: string; limit: string } }>(
      `let written = 0;
       for (;;) {
         try { await ctx.memory.history.append("block", { n: written, filler: "x".repeat(50_000) }); written++; }
         catch (error) { return { written, refusal: { code: error.code, limit: error.facts?.limit ?? error.data?.limit } }; }
       }`,
    );
    expect(outcome.refusal).toMatchObject({ code: "LimitExceeded", limit: "max_storage_mb" });
    expect(outcome.written).toBeGreaterThan(10);
    expect((await small.query<Found>("temporal", { variant: "block", limit: 1 })).total).toBe(
      outcome.written,
    );
    expect(await small.verify()).toMatchObject({ ok: true });
    // Forgetting frees space.
    const { items } = await small.query<Found>("temporal", { variant: "block" });
    await small.client.request("lares/memory/forget", { agent: SMALL, id: items[0]?.id });
    expect(await small.run(`return typeof await ctx.memory.history.append("block", { n: -1 });`)).toBe(
      "string",
    );
  });
});

describe("moving a memory", () => {
  test("an exported memory is equal after its import; with one bit changed it is refused", async () => {
    const path = join(bench.base, "memory.export");
    await keeper.run(
      `await ctx.memory.history.append("moved", { word: "travels" });
       await ctx.memory.knowledge.add("moved", { word: "luggage" }, { text: "a heavy suitcase" });
       await ctx.memory.plan.set({ at: "the station" });`,
    );
    const exported = await keeper.client.request<Record<string, unknown>>("lares/memory/export", {
      agent: ID,
      path,
    });
    const before = await keeper.verify();
    expect(exported).toMatchObject({ records: before.records, head: before.head });

    await using there = await Bench.create({ extensions: [rememberer(ID)] });
    const target = new Remembering(await there.open(), ID);
    const bytes = await readFile(path);
    const damaged = join(there.base, "damaged.export");
    for (const at of [0, bytes.length >> 2, bytes.length >> 1, bytes.length - 1]) {
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] ?? 0) ^ 1;
      await writeFile(damaged, copy);
      const { error } = await target.client.raw("lares/memory/import", { agent: ID, path: damaged });
      expect(error, `the bit at byte ${at}`).toBeDefined();
    }
    await writeFile(damaged, bytes.subarray(0, -100));
    expect(
      (await target.client.raw("lares/memory/import", { agent: ID, path: damaged })).error,
    ).toBeDefined();
    expect((await target.verify()).records).toBe(0);

    await target.client.request("lares/memory/import", { agent: ID, path });
    const { metrics } = await agent(target.client, ID);
    expect(metrics.temporal_events_count).toBeGreaterThan(0);
    expect(metrics.knowledge_items_count).toBeGreaterThan(0);
    expect(await target.verify()).toMatchObject({ ok: true, records: before.records, head: before.head });
    expect((await target.query<Found>("temporal", { text: { match: "travels" } })).total).toBe(1);
    const { items } = await target.query<Found>("associative", { similar_to: "a heavy suitcase", top_k: 1 });
    expect(items[0]?.data.word).toBe("luggage");
    expect(await target.run(`return ctx.memory.plan.read();`)).toEqual({ at: "the station" });
    // An import into a memory with content would have to replace it.
    expect((await target.client.raw("lares/memory/import", { agent: ID, path })).error).toBeDefined();
  });

  test("a path that is not absolute, a folder, a missing file: refused with what to do", async () => {
    await mkdir(join(bench.base, "folder"), { recursive: true });
    for (const path of ["relative.export", join(bench.base, "folder"), join(bench.base, "missing/export")]) {
      for (const method of ["export", "import"]) {
        // Also if the memory is not empty: the path is wrong whatever the memory contains.
        const { error } = await keeper.client.raw(`lares/memory/${method}`, { agent: ID, path });
        expect(error, `${method} ${path}`).toMatchObject({ code: -32602 });
      }
    }
  });
});
