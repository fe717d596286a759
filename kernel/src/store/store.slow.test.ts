import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { storeBounds } from "./bounds.ts";
import { TestJournal } from "./testing/test-journal.ts";
import { eventsOf, rebuiltOf, testStore } from "./testing/test-store.ts";

const storageError = expect.objectContaining({ code: "StorageError" });

describe("many memories", () => {
  test("two at once: one is answered while the other is built", async () => {
    const { store, journal, stateFolder } = await testStore();
    const large = new TestJournal(stateFolder, "extension/dev.lares.large");
    large.appendEvents(60_000, (n) => ({ data: { words: `some words to index ${n}` } }));
    journal.appendEvents(1);
    await eventsOf(store, journal);
    const built = { isDone: false };
    const building = store.request("project", large.memory, {}).then(() => (built.isDone = true));
    let answered = 0;
    while (!built.isDone) {
      journal.appendEvents(1);
      expect(await eventsOf(store, journal)).toBe(journal.end.seq);
      if (!built.isDone) answered++;
    }
    await building;
    expect(answered).toBeGreaterThan(3);
    expect(await eventsOf(store, large)).toBe(60_000);
  });

  test("forty, of which 32 are open at once: asked at once, and again from the first", async () => {
    const { store, stateFolder } = await testStore();
    const journals = Array.from({ length: 40 }, (_, n) => {
      const journal = new TestJournal(stateFolder, `extension/dev.lares.m${n}`);
      journal.appendEvents(n + 1);
      return journal;
    });
    const expected = journals.map((_, n) => n + 1);
    expect(await Promise.all(journals.map((journal) => eventsOf(store, journal)))).toEqual(expected);
    const open = journals.filter(({ folder }) => !existsSync(join(folder, "text.sqlite.sum")));
    expect(open).toHaveLength(storeBounds.maxOpenMemories);
    for (const journal of journals) journal.appendEvents(1);
    const counts: number[] = [];
    for (const journal of journals) counts.push(await eventsOf(store, journal));
    expect(counts).toEqual(expected.map((count) => count + 1));
  });
});

describe("too much at once", () => {
  test("closing while requests are open and waiting rejects each of them, and leaves complete files", async () => {
    const { store, journal, stateFolder } = await testStore();
    journal.appendEvents(30_000);
    await eventsOf(store, journal);
    journal.appendEvents(30_000);
    const asked = Array.from({ length: 300 }, () =>
      eventsOf(store, journal).catch((error: unknown) => error),
    );
    asked.push(store.request("rebuild", journal.memory, {}).catch((error: unknown) => error));
    await store[Symbol.asyncDispose]();
    for (const outcome of await Promise.all(asked)) expect(outcome).toEqual(storageError);
    const next = await testStore(stateFolder);
    expect(await eventsOf(next.store, journal)).toBe(60_000);
    expect(rebuiltOf(next.notices)).toEqual([]);
  });
});
