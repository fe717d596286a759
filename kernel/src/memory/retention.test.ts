import { describe, expect, test, vi } from "vitest";
import type { AgentMemory } from "./agent-memory.ts";
import { FileReplacement } from "../platform/files/file-replacement.ts";
import { storageError } from "../base/errors.ts";
import { memoryFixture } from "./testing/memory-fixture.ts";

const dayMs = 24 * 60 * 60 * 1000;
const notFound = expect.objectContaining({ code: "NotFound" }) as object;

async function swaps(agent: AgentMemory, count: number, bytes = 1): Promise<void> {
  for (let n = 0; n < count; n++) {
    const { revision } = agent.read();
    await agent.swap(revision, { n: revision + 1, text: "x".repeat(bytes) });
  }
}

describe("forgetting", () => {
  test("an event removes its data, and resolves when the projections have followed", async () => {
    const { within, lines, store } = await memoryFixture();
    const projected: number[] = [];
    store.answers.project = (_params, { end }) => {
      projected.push(end.seq);
      return {};
    };
    await within(async (agent) => {
      const { id } = await agent.appendEvent({ variant: "v", data: "secret" });
      await agent.appendEvent({ variant: "v", data: "open" });
      expect(await agent.forget(id, "told to")).toEqual({ seq: 3 });
      expect(projected).toEqual([3]);
      expect(JSON.stringify(lines())).not.toContain("secret");
      expect(agent.stats()).toMatchObject({ records: 3, temporalEvents: 1 });
      await expect(agent.forget(id, "again")).rejects.toEqual(notFound);
    });
    await within(async (agent) => {
      expect(agent.stats()).toMatchObject({ records: 3, temporalEvents: 1 });
      await expect(agent.forget("unknown", "")).rejects.toEqual(notFound);
    });
  });

  test("an item redacts all its records, also if the item was removed before", async () => {
    const { within, lines } = await memoryFixture();
    await within(async (agent) => {
      const { id } = await agent.addKnowledge({ variant: "Fact", data: "secret one" });
      const { id: other } = await agent.addKnowledge({ variant: "Fact", data: "other" });
      await agent.updateKnowledge({ id, data: "secret two" });
      await agent.removeKnowledge(id);
      expect(agent.stats().knowledgeItems).toBe(1);
      await agent.forget(id, "told to");
      expect(agent.stats().knowledgeItems).toBe(1);
      expect(
        lines()
          .filter(({ redacted }) => redacted)
          .map(({ seq }) => seq),
      ).toEqual([1, 3, 4]);
      await agent.removeKnowledge(other);
    });
    await within(async (agent) => expect(agent.stats().knowledgeItems).toBe(0));
  });

  test("ignores records that only have such an id: working memory and policies", async () => {
    const { within } = await memoryFixture();
    await within(async (agent) => {
      await swaps(agent, 2);
      await agent.recordPolicy({ retention_days: 1 });
      for (const id of ["working", "policy", "", "x".repeat(1000)]) {
        await expect(agent.forget(id, "")).rejects.toEqual(notFound);
      }
      expect(agent.stats().records).toBe(3);
    });
  });
});

describe("cleanup", () => {
  test("knowledge is pruned by policy: the store gets it, and is asked only if there is one", async () => {
    const { within, store } = await memoryFixture();
    const policy = { belowImportance: 0.2, olderThanMs: 30 * dayMs };
    await within(
      async (agent) => {
        expect(await agent.cleanup(10)).toMatchObject({ items: 0 });
        expect(store.asked).not.toContain("maintain");
        const { id } = await agent.addKnowledge({ variant: "Fact", data: "faded" });
        await agent.addKnowledge({ variant: "Fact", data: "kept" });
        store.answers.maintain = ({ prune }) => {
          expect(prune).toEqual(policy);
          return { changes: [{ operation: "delete", id, reason: "pruned" }], isUnfinished: false };
        };
        expect(await agent.cleanup(10)).toMatchObject({ items: 1 });
        expect(agent.stats().knowledgeItems).toBe(1);
      },
      { prunePolicy: () => policy },
    );
  });

  test("removes older events, by their own time, and all states but the newest", async () => {
    const { within, lines, clock } = await memoryFixture();
    await within(async (agent) => {
      await agent.appendEvent({ variant: "v", data: "old", timestamp: "2026-11-10T11:59:59.999Z" });
      await agent.appendEvent({ variant: "v", data: "just", timestamp: "2026-11-10T12:00:00Z" });
      await swaps(agent, 3);
      await agent.appendEvent({ variant: '"timestamp":"0001', data: { timestamp: "1999-01-01" } });
      await agent.addKnowledge({ variant: "Fact", data: "kept", text: "of no time" });
      expect(await agent.cleanup(10)).toEqual({ events: 1, workingStates: 2, items: 0 });
      expect(
        lines()
          .filter(({ redacted }) => redacted)
          .map(({ seq }) => seq),
      ).toEqual([1, 3, 4]);
      expect(await agent.cleanup(10)).toEqual({ events: 0, workingStates: 0, items: 0 });
      clock.advance(1);
      expect(await agent.cleanup(10)).toEqual({ events: 1, workingStates: 0, items: 0 });
      expect(await agent.cleanup(36_500)).toEqual({ events: 0, workingStates: 0, items: 0 });
      expect(await agent.verify()).toMatchObject({ ok: true });
    });
    await within(async (agent) => {
      expect(agent.read()).toEqual({ revision: 3, state: { n: 3, text: "x" } });
      expect(agent.stats()).toMatchObject({ temporalEvents: 1, knowledgeItems: 1 });
      await swaps(agent, 1);
      clock.advance(1);
      expect(await agent.cleanup(0)).toEqual({ events: 1, workingStates: 1, items: 0 });
    });
  });

  test.each([-1, 0.5, Number.NaN, 36_501])("%d days are refused", async (days) => {
    const { within } = await memoryFixture();
    await within(async (agent) => {
      await expect(agent.cleanup(days)).rejects.toMatchObject({ code: "InvalidParams" });
    });
  });

  test("runs at the start and once a day if an age is set, and closing waits for it", async () => {
    const { within, clock, lines } = await memoryFixture();
    const redacted = (): number => lines().filter(({ redacted }) => redacted).length;
    await within(async (agent) => {
      await agent.appendEvent({ variant: "v", data: 1 });
    });
    clock.advance(3 * dayMs);
    await within(async () => undefined);
    expect(redacted()).toBe(0);
    const retentionDays = (): number => 3;
    await within(
      async (agent) => {
        await agent.appendEvent({ variant: "v", data: 2 });
        expect(agent.stats().temporalEvents).toBe(2);
        clock.advance(1);
      },
      { retentionDays },
    );
    expect(redacted()).toBe(0);
    await within(
      async (agent) => {
        await vi.waitUntil(() => agent.stats().temporalEvents === 1);
        for (let day = 0; day < 3; day++) await clock.advanceAsync(dayMs);
        await vi.waitUntil(() => agent.stats().temporalEvents === 0);
      },
      { retentionDays },
    );
    expect(redacted()).toBe(2);
  });

  test("that a full disk stops is reported, and repeated the next day", async () => {
    const { within, clock, warnings } = await memoryFixture();
    await within(
      async (agent) => {
        await agent.appendEvent({ variant: "v", data: 1 });
        const failing = vi
          .spyOn(FileReplacement, "begin")
          .mockRejectedValueOnce(storageError("no space is left on the disk (ENOSPC)"));
        clock.advance(dayMs + 1);
        await vi.waitUntil(() => warnings.length > 0);
        failing.mockRestore();
        expect(agent.stats().temporalEvents).toBe(1);
        clock.advance(dayMs);
        await vi.waitUntil(() => agent.stats().temporalEvents === 0);
        expect(await agent.verify()).toMatchObject({ ok: true, records: 2 });
      },
      { retentionDays: () => 1 },
    );
  });
});

describe("states of working memory that were superseded", () => {
  test("do not accumulate: the journal stays far smaller than what was written", async () => {
    const { within } = await memoryFixture();
    const limit = 200_000;
    await within(
      async (agent) => {
        for (let round = 0; round < 20; round++) await swaps(agent, 5, 20_000);
        await vi.waitUntil(() => agent.stats().sizeBytes < limit);
        expect(agent.read().revision).toBe(100);
        expect(await agent.verify()).toMatchObject({ ok: true });
      },
      { storageLimitBytes: () => limit },
    );
    await within(async (agent) => expect(agent.read()).toMatchObject({ revision: 100, state: { n: 100 } }));
  });

  test("are dropped when the quota is reached, and a swap is refused only if that does not help", async () => {
    const { within } = await memoryFixture();
    let limit = 1e9;
    await within(
      async (agent) => {
        await swaps(agent, 4, 2000);
        limit = agent.stats().sizeBytes + 100;
        await swaps(agent, 1, 2000);
        expect(agent.read().revision).toBe(5);
        await expect(agent.swap(5, "x".repeat(100_000))).rejects.toMatchObject({
          facts: { limit: "max_storage_mb" },
        });
        expect(agent.read().revision).toBe(5);
      },
      { storageLimitBytes: () => limit },
    );
  });
});
