import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { LaresError } from "../base/errors.ts";
import { silentLog } from "../base/log.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import type { AgentMemory } from "./agent-memory.ts";
import { Heads, memoryMigrations } from "./records/heads.ts";
import type { ProposedChange } from "../memory-contract/store-port.ts";
import { maxLineBytes } from "../memory-contract/records.ts";
import { memoryFixture, testKey } from "./testing/memory-fixture.ts";

const refusal = (code: string): object => expect.objectContaining({ code }) as object;

describe("an event", () => {
  test("is in the journal as canonical JSON, with its time in UTC, and the store is notified", async () => {
    const { within, lines, store } = await memoryFixture();
    await within(async (agent) => {
      const { id } = await agent.appendEvent({
        variant: 'a "variant"',
        data: { b: 1, a: [true, null, "é"] },
        timestamp: "2026-11-20T13:00:00+01:00",
      });
      const second = await agent.appendEvent({ variant: "v", data: "now" });
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
      expect(lines().map(({ kind, operation, id, data }) => ({ kind, operation, id, data }))).toEqual([
        {
          kind: "temporal",
          operation: "store",
          id,
          data: {
            variant: 'a "variant"',
            data: { b: 1, a: [true, null, "é"] },
            timestamp: "2026-11-20T12:00:00.000Z",
          },
        },
        {
          kind: "temporal",
          operation: "store",
          id: second.id,
          data: { variant: "v", data: "now", timestamp: "2026-11-20T12:00:00.000Z" },
        },
      ]);
      expect(await agent.verify()).toMatchObject({ ok: true, records: 2 });
      expect(store.growth).toEqual({ count: 2, seq: 2 });
      expect(agent.stats()).toMatchObject({ temporalEvents: 2, knowledgeItems: 0 });
    });
    await within(async (agent) => expect(agent.stats()).toMatchObject({ temporalEvents: 2 }));
  });

  test("of many concurrent calls is written in their order", async () => {
    const { within, lines } = await memoryFixture();
    await within(async (agent) => {
      const ids = await Promise.all(
        Array.from({ length: 3000 }, async (_, n) => (await agent.appendEvent({ variant: "v", data: n })).id),
      );
      expect(lines().map(({ id }) => id)).toEqual(ids);
      expect(await agent.verify()).toMatchObject({ ok: true, records: 3000 });
    });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["a variant without a name", { variant: "" }, "InvalidParams"],
    ["a variant that is too long", { variant: "v".repeat(129) }, "InvalidParams"],
    ["a variant that is no Unicode", { variant: "\ud800" }, "InvalidParams"],
    ["a time that is none", { timestamp: "tomorrow" }, "InvalidParams"],
    ["data without a JSON form", { data: { n: Number.NaN } }, "InvalidParams"],
    ["no data", { data: undefined }, "InvalidParams"],
    ["10 MB of data", { data: "x".repeat(10_000_000) }, "LimitExceeded"],
  ])("with %s is refused, and nothing is written", async (_what, wrong, code) => {
    const { within } = await memoryFixture();
    await within(async (agent) => {
      const event = { variant: "v", data: 1, ...wrong };
      await expect(agent.appendEvent(event)).rejects.toEqual(refusal(code));
      expect(agent.stats()).toMatchObject({ records: 0, sizeBytes: 0, temporalEvents: 0 });
    });
  });

  test("that makes its record too long is refused with the limit's name and the size; one byte less is accepted", async () => {
    const { within } = await memoryFixture();
    await within(async (agent) => {
      await agent.appendEvent({ variant: "v", data: "" });
      const room = maxLineBytes - agent.stats().sizeBytes;
      await expect(agent.appendEvent({ variant: "v", data: "x".repeat(room + 1) })).rejects.toMatchObject({
        facts: { limit: "memory_record_bytes", value: maxLineBytes + 1 },
      });
      await agent.appendEvent({ variant: "v", data: "x".repeat(room) });
    });
    await within(async (agent) => expect(await agent.verify()).toMatchObject({ ok: true, records: 2 }));
  });

  test("after the clock was set back is appended after the others, with its given time", async () => {
    const { within, lines, clock } = await memoryFixture();
    await within(async (agent) => {
      await agent.appendEvent({ variant: "v", data: 1 });
      clock.setNow("2020-01-01T00:00:00.000Z");
      await agent.appendEvent({ variant: "v", data: 2 });
    });
    expect(lines().map(({ timestamp, data }) => [timestamp, data?.["timestamp"]])).toEqual([
      ["2026-11-20T12:00:00.000Z", "2026-11-20T12:00:00.000Z"],
      ["2020-01-01T00:00:00.000Z", "2020-01-01T00:00:00.000Z"],
    ]);
    await within(async (agent) => expect(await agent.verify()).toMatchObject({ ok: true }));
  });
});

describe("what is asked", () => {
  test("is passed on with the acknowledged state of the memory and the clock's time", async () => {
    const { within, store, clock, folder, journal } = await memoryFixture();
    const heard: unknown[] = [];
    store.answers["temporal.query"] = (params, memory) => {
      heard.push({ params, ...memory });
      return { items: [], total: 0 };
    };
    await within(async (agent) => {
      const { id } = await agent.appendEvent({ variant: "v", data: 1 });
      expect(await agent.queryEvents({ limit: 5 })).toEqual({ items: [], total: 0 });
      await agent.forget(id, "told to");
      await agent.queryEvents({});
    });
    expect(heard).toMatchObject([
      {
        params: { query: { limit: 5 }, nowMs: clock.now() },
        key: testKey,
        folder,
        journalFolder: journal,
        end: { seq: 1 },
        rewrites: 0,
        settings: { maxVectors: 1000 },
      },
      { end: { seq: 2 }, rewrites: 1 },
    ]);
  });
});

describe("knowledge", () => {
  const fact = { variant: "Fact", data: { text: "the beach is near" } };

  test("with an embedding similar to an existing item's is stored with a relation to that item", async () => {
    const { within, store, lines } = await memoryFixture();
    const asked: unknown[] = [];
    await within(async (agent) => {
      const { id } = await agent.addKnowledge({ ...fact, importance: 0.25 });
      store.answers["knowledge.nearest"] = (params) => {
        asked.push(params);
        return { nearest: [{ id, similarity: 0.95 }] };
      };
      const second = await agent.addKnowledge({ ...fact, text: "beach", embedding: [1, 0.5, -2] });
      expect(second.updates).toBe(id);
      const related = await agent.addKnowledge({ ...fact, relations: [{ to: id, relation: "Updates" }] });
      expect(related.updates).toBeUndefined();
      expect(asked).toEqual([
        { items: [{ id: second.id, variant: "Fact", embedding: [1, 0.5, -2] }], minSimilarity: 0.9 },
      ]);
      expect(lines().map(({ data }) => data)).toEqual([
        { ...fact, importance: 0.25 },
        {
          ...fact,
          text: "beach",
          embedding_f32: Buffer.from(Float32Array.of(1, 0.5, -2).buffer).toString("base64"),
          relations: [{ to: id, relation: "Updates" }],
        },
        { ...fact, relations: [{ to: id, relation: "Updates" }] },
      ]);
      expect(agent.stats().knowledgeItems).toBe(3);
    });
  });

  test("is acknowledged by the journal while the store does not answer; what it updates is added later", async () => {
    const { within, store, lines } = await memoryFixture();
    const silent = Promise.withResolvers<void>();
    const request = store.request.bind(store);
    store.request = async (...given) => {
      await silent.promise;
      return await request(...given);
    };
    await within(async (agent) => {
      const one = await agent.addKnowledge({ ...fact, source: "talk", position: 1 });
      const two = await agent.addKnowledge({ ...fact, timestamp: "2026-02-03T04:05:06Z" });
      expect(lines().map(({ data }) => data)).toEqual([
        { ...fact, source: "talk", position: 1 },
        { ...fact, timestamp: "2026-02-03T04:05:06.000Z" },
      ]);
      let proposals: ProposedChange[] = [
        { operation: "relate", from: two.id, to: one.id, relation: "Updates" },
      ];
      store.answers["knowledge.updates"] = () => {
        const changes = proposals;
        proposals = [];
        return { changes, isMore: changes.length > 0, isWaiting: false };
      };
      store.answers["knowledge.query"] = () => ({ items: [] });
      silent.resolve();
      await agent.queryKnowledge({});
      expect(lines().at(-1)).toMatchObject({
        operation: "update",
        id: two.id,
        data: { relate: { to: one.id, relation: "Updates" } },
      });
      expect(store.asked).toEqual(["knowledge.updates", "knowledge.updates", "knowledge.query"]);
    });
  });

  test("is stored even if the store cannot answer, but not if it reports an error in the item", async () => {
    const { within, store } = await memoryFixture();
    await within(async (agent) => {
      store.answers["knowledge.nearest"] = () => {
        throw new LaresError("StorageError", "The host died.");
      };
      await agent.addKnowledge({ ...fact, embedding: [1, 2] });
      store.answers["knowledge.nearest"] = () => ({
        nearest: [{ refused: "An embedding has 384 numbers.", facts: {} }],
      });
      await expect(agent.addKnowledge({ ...fact, embedding: [1] })).rejects.toEqual(refusal("InvalidParams"));
      expect(agent.stats()).toMatchObject({ records: 1, knowledgeItems: 1 });
    });
  });

  test("that is added concurrently is checked together, in order and bounded, before later queries", async () => {
    const { within, store, lines } = await memoryFixture();
    const looked: string[][] = [];
    store.answers["knowledge.nearest"] = ({ items }) => {
      looked.push(items.map(({ embedding }) => String(embedding?.[0])));
      // Each is a newer form of the one before it.
      return { nearest: items.map((_, at) => (at === 0 ? null : { id: items[at - 1]!.id, similarity: 1 })) };
    };
    await within(async (agent) => {
      const add = (name: number, text = "") =>
        agent.addKnowledge({ variant: "Fact", data: { text }, embedding: [name] });
      const [one, two] = await Promise.all([add(1), add(2)]);
      expect(two.updates).toBe(one.id);
      const outcomes = await Promise.allSettled([
        add(3),
        agent.addKnowledge({ ...fact, embedding: [4], relations: [{ to: "nothing", relation: "PartOf" }] }),
        add(5),
        agent.removeKnowledge(one.id),
        add(6),
        agent.addKnowledge({ ...fact, embedding: [7], relations: [{ to: one.id, relation: "PartOf" }] }),
        ...Array.from({ length: 64 }, (_, n) => add(100 + n)),
        add(200, "x".repeat(1024 * 1024)),
        add(8),
      ]);
      expect(looked).toEqual([
        ["1", "2"],
        ["3", "5"],
        ["6", ...Array.from({ length: 62 }, (_, n) => String(100 + n))],
        ["162", "163"],
        ["200"],
        ["8"],
      ]);
      const failed = outcomes.flatMap((outcome, at) => (outcome.status === "rejected" ? [at] : []));
      expect(failed).toEqual([1, 5]);
      expect(
        lines()
          .map(({ operation }) => operation)
          .indexOf("delete"),
      ).toBe(4);
    });
  });

  test("that could not be written is not updated by items added with it", async () => {
    const { within, store, lines } = await memoryFixture();
    store.answers["knowledge.nearest"] = ({ items }) => ({
      nearest: items.map((_, at) => (at === 0 ? null : { id: items[0]!.id, similarity: 1 })),
    });
    await within(
      async (agent) => {
        const outcomes = await Promise.allSettled([
          agent.addKnowledge({ variant: "Fact", data: {}, embedding: [1], text: "x".repeat(20_000) }),
          agent.addKnowledge({ variant: "Fact", data: {}, embedding: [1], text: "short" }),
        ]);
        expect(outcomes).toMatchObject([
          { status: "rejected", reason: { code: "LimitExceeded" } },
          { status: "fulfilled", value: { id: expect.any(String) } },
        ]);
        expect(outcomes[1]).not.toHaveProperty("value.updates");
        expect(lines().map(({ data }) => data?.["relations"])).toEqual([undefined]);
      },
      { storageLimitBytes: () => 10_000 },
    );
  });

  test("is stored as it was passed, whatever the caller does to it while the store is asked", async () => {
    const { within, lines } = await memoryFixture();
    await within(async (agent) => {
      const data = { list: [1] };
      const adding = agent.addKnowledge({ variant: "Fact", data });
      data.list.push(2);
      await adding;
      expect(lines()[0]?.data).toEqual({ variant: "Fact", data: { list: [1] } });
    });
  });

  test.each<[string, object]>([
    ["no variant", { variant: "" }],
    ["empty text", { text: " \n" }],
    ["text that is no Unicode", { text: "\udc00" }],
    ["too much importance", { importance: 1.01 }],
    ["importance that is no number", { importance: Number.NaN }],
    ["an embedding without numbers", { embedding: [] }],
    ["an embedding that is too long", { embedding: Array.from({ length: 4097 }, () => 1) }],
    ["NaN in the embedding", { embedding: [1, Number.NaN] }],
    ["Infinity in the embedding", { embedding: [1, -Infinity] }],
    ["what no 32-bit float holds in the embedding", { embedding: [1e300] }],
    ["an embedding without a direction", { embedding: [0, 0] }],
    ["a text in the embedding", { embedding: ["1"] }],
    ["a relation without a name", { relations: [{ to: "x", relation: "" }] }],
    ["too many relations", { relations: Array.from({ length: 257 }, () => ({ to: "x", relation: "r" })) }],
    ["data without a JSON form", { data: { n: Infinity } }],
  ])("with %s is refused before the store is asked, and nothing is written", async (_what, wrong) => {
    const { within, store } = await memoryFixture();
    await within(async (agent) => {
      await expect(agent.addKnowledge({ ...fact, ...wrong })).rejects.toEqual(refusal("InvalidParams"));
      expect([store.asked, agent.stats().records]).toEqual([[], 0]);
    });
  });

  test("with 10 MB of text, or over the quota, is refused with the limit's name, and nothing is written", async () => {
    const { within } = await memoryFixture();
    await within(
      async (agent) => {
        await expect(agent.addKnowledge({ ...fact, text: "x".repeat(10_000_000) })).rejects.toMatchObject({
          facts: { limit: "memory_record_bytes" },
        });
        await expect(agent.addKnowledge({ ...fact, text: "x".repeat(3000) })).rejects.toMatchObject({
          facts: { limit: "max_storage_mb" },
        });
        expect(agent.stats()).toMatchObject({ records: 0, sizeBytes: 0 });
      },
      { storageLimitBytes: () => 2000 },
    );
  });

  test("is changed, related and removed in the journal; an unknown id is NotFound", async () => {
    const { within, lines, store } = await memoryFixture();
    await within(async (agent) => {
      const { id: one } = await agent.addKnowledge(fact);
      const { id: other } = await agent.addKnowledge(fact);
      await agent.updateKnowledge({ id: one, importance: 1, variant: "Identity" });
      await agent.relate(one, other, "CausedBy");
      await agent.removeKnowledge(other);
      expect(
        lines()
          .slice(2)
          .map(({ operation, id, data }) => [operation, id, data]),
      ).toEqual([
        ["update", one, { importance: 1, variant: "Identity" }],
        ["update", one, { relate: { to: other, relation: "CausedBy" } }],
        ["delete", other, {}],
      ]);
      expect(agent.stats().knowledgeItems).toBe(1);
      for (const unknown of [other, "nothing", "", "x".repeat(10_000)]) {
        await expect(agent.updateKnowledge({ id: unknown, importance: 1 })).rejects.toEqual(
          refusal("NotFound"),
        );
        await expect(agent.removeKnowledge(unknown)).rejects.toEqual(refusal("NotFound"));
        await expect(agent.relate(one, unknown, "PartOf")).rejects.toEqual(refusal("NotFound"));
        await expect(agent.relate(unknown, one, "PartOf")).rejects.toEqual(refusal("NotFound"));
        const relations = [{ to: unknown, relation: "PartOf" }];
        await expect(agent.addKnowledge({ ...fact, relations })).rejects.toEqual(refusal("NotFound"));
      }
      await expect(agent.updateKnowledge({ id: one })).rejects.toEqual(refusal("InvalidParams"));
      store.answers["knowledge.nearest"] = ({ items }) => ({
        nearest: items.map(({ embedding }) =>
          embedding?.length === 3
            ? null
            : { refused: "The embeddings in this memory have 3 dimensions.", facts: {} },
        ),
      });
      await expect(agent.updateKnowledge({ id: one, embedding: [1] })).rejects.toEqual(
        refusal("InvalidParams"),
      );
      await agent.updateKnowledge({ id: one, embedding: [1, 2, 3] });
      expect(agent.stats().records).toBe(6);
    });
  });

  test("removed and changed concurrently: the second call finds nothing, in either order", async () => {
    const { within, lines } = await memoryFixture();
    await within(async (agent) => {
      const { id } = await agent.addKnowledge(fact);
      const outcomes = await Promise.allSettled([
        agent.removeKnowledge(id),
        agent.updateKnowledge({ id, importance: 1 }),
        agent.removeKnowledge(id),
        agent.relate(id, id, "RelatedTo"),
        agent.forget(id, "told to").then(() => agent.updateKnowledge({ id, importance: 1 })),
      ]);
      expect(
        outcomes.map((outcome) => (outcome.status === "fulfilled" ? "done" : outcome.reason.code)),
      ).toEqual(["done", "NotFound", "NotFound", "NotFound", "NotFound"]);
      expect(lines().map(({ operation }) => operation)).toEqual(["store", "delete", "redact"]);
    });
  });

  test("maintenance: the store's proposals are journaled between the changes of callers", async () => {
    const { within, store, lines } = await memoryFixture();
    await within(async (agent) => {
      const ids = await Promise.all([1, 2, 3].map(async () => (await agent.addKnowledge(fact)).id));
      const [one = "", two = "", three = ""] = ids;
      store.answers.maintain = () => ({
        changes: [
          { operation: "relate", from: one, to: two, relation: "Updates" },
          { operation: "delete", id: three, reason: "merged" },
        ],
        isUnfinished: true,
      });
      const maintaining = agent.maintain();
      const late = agent.updateKnowledge({ id: three, importance: 1 });
      expect(await maintaining).toEqual({ deleted: 1, related: 1, isUnfinished: true });
      await expect(late).rejects.toEqual(refusal("NotFound"));
      expect(
        lines()
          .slice(3)
          .map(({ operation, id, data }) => [operation, id, data]),
      ).toEqual([
        ["update", one, { relate: { to: two, relation: "Updates" } }],
        ["delete", three, {}],
      ]);
    });
  });
});

describe("knowledge that is only", () => {
  test.each([
    ["queried", (agent: AgentMemory) => agent.queryKnowledge({})],
    ["searched", (agent: AgentMemory) => agent.search({ text: "sea" })],
    ["added", (agent: AgentMemory) => agent.addKnowledge({ variant: "Fact", data: 1 })],
    ["changed", (agent: AgentMemory) => agent.updateKnowledge({ id: "none", importance: 1 })],
  ] as const)("%s is looked after", async (_, use) => {
    const { within, store, clock } = await memoryFixture();
    await within(async (agent) => {
      await use(agent).catch(() => undefined);
      expect(store.asked).not.toContain("maintain");
      clock.advance(10 * 60 * 1000);
      await vi.waitFor(() => expect(store.asked).toContain("maintain"));
    });
  });
});

describe("a policy", () => {
  test("is recorded if it differs from the last, and survives a restart", async () => {
    const { within, lines } = await memoryFixture();
    await within(async (agent) => {
      expect(agent.policy()).toBeNull();
      const outcomes = [{ retention_days: 7 }, { retention_days: 7 }, { retention_days: 8 }].map((policy) =>
        agent.recordPolicy(policy),
      );
      expect(await Promise.all(outcomes)).toEqual([true, false, true]);
    });
    await within(async (agent) => {
      expect(agent.policy()).toEqual({ retention_days: 8 });
      expect(await agent.recordPolicy({ retention_days: 8 })).toBe(false);
    });
    expect(lines().map(({ kind, operation, id }) => [kind, operation, id])).toEqual([
      ["policy", "store", "policy"],
      ["policy", "update", "policy"],
    ]);
  });
});

describe("a memory's key", () => {
  test("of a shared namespace has its own folder and head", async () => {
    const { start, stateFolder } = await memoryFixture();
    const first = await start();
    const shared = await first.open("namespace/People.v2");
    await shared.appendEvent({ variant: "v", data: 1 });
    expect(shared.store).toMatchObject({
      key: "namespace/People.v2",
      folder: `${stateFolder}/namespaces/People.v2/memory`,
    });
    await first[Symbol.asyncDispose]();
    await using second = await start();
    expect(second.stats("namespace/People.v2").records).toBe(1);
    expect((await second.open("namespace/People.v2")).stats().temporalEvents).toBe(1);
    expect(second.stats(testKey).records).toBe(0);
  });

  test.each(["namespace/..", "namespace/a/b", "namespace/", "extension/people", "other/a.b"])(
    "%s names none",
    async (key) => {
      const { start } = await memoryFixture();
      await using memory = await start();
      await expect(memory.open(key as "namespace/x")).rejects.toEqual(refusal("InvalidParams"));
    },
  );

  test("the counts of a closed memory are its last ones, without forgotten and removed records", async () => {
    const { start, within } = await memoryFixture();
    await within(async (agent) => {
      const { id } = await agent.appendEvent({ variant: "v", data: 1 });
      for (let n = 0; n < 3; n++) await agent.appendEvent({ variant: "v", data: n });
      await agent.forget(id, "told to");
      const { id: item } = await agent.addKnowledge({ variant: "Fact", data: "one" });
      await agent.addKnowledge({ variant: "Fact", data: "two" });
      await agent.removeKnowledge(item);
    });
    await using memory = await start();
    expect(memory.stats(testKey)).toMatchObject({ temporalEvents: 3, knowledgeItems: 1 });
    expect(memory.stats("namespace/none")).toMatchObject({ temporalEvents: 0, knowledgeItems: 0 });
  });

  test("heads of an older database are those of the extensions' memories", async () => {
    const path = join(await temporaryFolder(), "ledger.sqlite");
    const old = await openNearDatabase({ path, migrations: memoryMigrations.slice(0, 1), log: silentLog });
    await old.batch([{ sql: "INSERT INTO memory_heads VALUES ('dev.lares.test', 3, 'abc', 900)" }]);
    await old[Symbol.asyncDispose]();
    const now = await openNearDatabase({ path, migrations: memoryMigrations, log: silentLog });
    onTestFinished(() => now[Symbol.asyncDispose]());
    const heads = await Heads.load(now);
    expect(heads.of(testKey)).toEqual({ seq: 3, hash: "abc", size: 900, carriedOut: 0 });
  });
});
