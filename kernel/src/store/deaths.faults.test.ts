import process from "node:process";
import { afterEach, describe, expect, test } from "vitest";
import { until } from "../../../test/support/until.ts";
import { canonicalJson } from "../base/json.ts";
import { failpointVariable } from "../platform/failpoint.ts";
import { failpointNames } from "../platform/failpoints.ts";
import type { Store } from "../memory-contract/store-port.ts";
import { dyingAt, noMoreDying } from "./testing/dying-hosts.ts";
import { beginningMs, TestJournal } from "./testing/test-journal.ts";
import { eventsOf, rebuiltOf, testStore } from "./testing/test-store.ts";

const nowMs = beginningMs;

afterEach(noMoreDying);

function kill(store: Store): void {
  if (store.pid === null) throw new Error("No store host runs.");
  process.kill(store.pid, "SIGKILL");
}

describe("no answer is lost when a host dies", () => {
  test("killed while queries are open: the next host answers all of them, once each", async () => {
    const { store, journal } = await testStore();
    journal.appendEvents(2000, (n) => ({ data: { words: `beach ${n}` } }));
    await eventsOf(store, journal);
    const asked = Array.from({ length: 100 }, () => eventsOf(store, journal));
    kill(store);
    expect(new Set(await Promise.all(asked))).toEqual(new Set([2000]));
  });

  test("killed while one memory is rebuilt: it is asked again, and others are answered before it is done", async () => {
    const { store, journal, stateFolder } = await testStore();
    const other = new TestJournal(stateFolder, "extension/dev.lares.other");
    for (let batch = 0; batch < 20; batch++) journal.appendEvents(5000);
    other.appendEvents(3);
    expect(await eventsOf(store, other)).toBe(3);
    let isDone = false;
    const rebuilt = store.request("rebuild", journal.memory, {}).then(() => (isDone = true));
    kill(store);
    await until("it is noticed", () => store.pid === null);
    expect(await eventsOf(store, other)).toBe(3);
    expect(isDone).toBe(false);
    await rebuilt;
    expect(await eventsOf(store, journal)).toBe(100_000);
  });

  test("killed between the journal's growth and the hint: the growth is there", async () => {
    const { store, journal } = await testStore();
    journal.appendEvents(5);
    await eventsOf(store, journal);
    const before = store.pid;
    journal.appendEvents(5);
    kill(store);
    store.grown(journal.memory);
    await until("it is noticed", () => store.pid === null);
    store.grown(journal.memory);
    expect(await eventsOf(store, journal)).toBe(10);
    expect(store.pid).not.toBe(before);
  });

  test.each(failpointNames.filter((name) => name.startsWith("store.")))(
    "dying at %s: every request is answered, and nothing is lost",
    async (point) => {
      const { store, journal } = await testStore();
      const deaths = await dyingAt(point);
      journal.appendEvents(100, (n) => ({ data: { words: `beach ${n}` } }));
      expect(await eventsOf(store, journal)).toBe(100);
      const item = canonicalJson({ variant: "Fact", data: {}, text: "a shell" });
      journal.append({ operation: "store", kind: "knowledge", id: "item", data: item });
      journal.redact("temporal", "event-1", [1]);
      journal.redact("knowledge", "item", [101]);
      expect(await eventsOf(store, journal)).toBe(99);
      await store.request("rebuild", journal.memory, {});
      await store.request("close", journal.memory, {});
      const query = { text: { match: "beach" } };
      const page = await store.request("temporal.query", journal.memory, { query, nowMs });
      expect(page).toMatchObject({ total: 99, items: { length: 99 } });
      expect(deaths()).toEqual([point]);
    },
  );

  test("dying in each batch of a long projection: it continues where it was", async () => {
    const { store, journal, notices } = await testStore();
    const deaths = await dyingAt("store.tables.applied@3");
    journal.appendEvents(40_000);
    expect(await eventsOf(store, journal)).toBe(40_000);
    expect(deaths()).toHaveLength(1);
    expect(rebuiltOf(notices)).toEqual([]);
  });
});

describe("a request that kills hosts", () => {
  test("is refused after the second, its neighbours are not, and the memory is built again", async () => {
    const { store, journal, stateFolder, notices } = await testStore();
    const innocent = new TestJournal(stateFolder, "extension/dev.lares.innocent");
    innocent.appendEvents(3);
    expect(await eventsOf(store, innocent)).toBe(3);
    // Nothing of the other memory is projected any more; projecting kills the host.
    process.env[failpointVariable] = "store.tables.begun";
    kill(store);
    await until("it is noticed", () => store.pid === null);
    journal.appendEvents(1);
    const poisoned = eventsOf(store, journal);
    const asked = Array.from({ length: 20 }, () => eventsOf(store, innocent));
    await expect(poisoned).rejects.toThrow(/ended twice while it answered this/);
    delete process.env[failpointVariable];
    expect(new Set(await Promise.all(asked))).toEqual(new Set([3]));
    // The running host may still have the failpoint.
    if (store.pid !== null) kill(store);
    expect(await eventsOf(store, journal)).toBe(1);
    expect(rebuiltOf(notices)).toEqual([
      { what: "projections", reason: expect.stringContaining("ended again and again") },
    ]);
  });
});
