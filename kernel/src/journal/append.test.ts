import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { storageError } from "../base/errors.ts";
import { nextTurn } from "../base/next-turn.ts";
import { DataFile } from "../platform/files/data-files.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { HeadConflict } from "./head-conflict.ts";
import type { Journal } from "./journal.ts";
import { verifyJournal } from "./verify.ts";
import { RecordForm, type RecordInput } from "./record.ts";
import { type ChainEnd, chainStart } from "../memory-contract/records.ts";
import { readSegments, type TestKind, TestJournal, testRecords } from "./testing/journals.ts";

const record = (data: string, kind = "temporal" as const): RecordInput<"temporal"> => ({
  operation: "store",
  kind,
  id: "x",
  data: JSON.stringify(data),
});

async function dataOf(folder: string): Promise<unknown[]> {
  const lines = (await readSegments(folder)).flat().filter((line) => line.length > 0);
  return lines.map((line) => (JSON.parse(line.toString()) as { data: unknown }).data);
}

test("of two appends to one head exactly one is written; the other learns the head", async () => {
  const kept = new TestJournal(await temporaryFolder());
  await kept.within(async (journal) => {
    const [first] = await journal.append([record("a")], { expectedHead: chainStart });
    const outcomes = await Promise.allSettled([
      journal.append([record("b"), record("c")], { expectedHead: first.end }),
      journal.append([record("d")], { expectedHead: first.end }),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    const error: unknown = outcomes[1].status === "rejected" ? outcomes[1].reason : null;
    expect(error).toBeInstanceOf(HeadConflict);
    expect(error).toMatchObject({ code: "Conflict", head: journal.end, facts: { head: { seq: 3 } } });
    await journal.append([record("d")], { expectedHead: journal.end });
  });
  expect(await dataOf(kept.folder)).toEqual(["a", "b", "c", "d"]);
});

test("of records that are appended together none is written if one does not fit", async () => {
  const kept = new TestJournal(await temporaryFolder(), { maxBytes: () => 2000 });
  await kept.within(async (journal) => {
    await journal.append([record("a")]);
    await expect(journal.append([record("b"), record("x".repeat(2000))])).rejects.toMatchObject({
      code: "LimitExceeded",
    });
    const [second] = await journal.append([record("c")]);
    expect(second.end.seq).toBe(2);
    expect(await journal.verify()).toMatchObject({ ok: true, records: 2 });
  });
  expect(await dataOf(kept.folder)).toEqual(["a", "c"]);
});

test("a head that could not be written is not a conflict for the next append", async () => {
  const kept = new TestJournal(await temporaryFolder());
  await kept.within(async (journal) => {
    const full = vi.spyOn(DataFile.prototype, "appendNow").mockImplementationOnce(() => {
      throw storageError("The disk is full.");
    });
    const outcomes = await Promise.allSettled([
      journal.append([record("a")], { expectedHead: chainStart }),
      journal.append([record("b")], { expectedHead: chainStart }),
    ]);
    full.mockRestore();
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "StorageError" } });
    await journal.append([record("c")], { expectedHead: chainStart });
  });
  expect(await dataOf(kept.folder)).toEqual(["c"]);
});

test("sync waits for what was appended before it, and one anchor survives a power cut for it; closing waits for all", async () => {
  const folder = await temporaryFolder();
  const flushed: PromiseWithResolvers<void>[] = [];
  const anchors: string[] = [];
  const flush = vi.spyOn(DataFile.prototype, "synchronize").mockImplementation(() => {
    flushed.push(Promise.withResolvers());
    return flushed.at(-1)?.promise ?? Promise.resolve();
  });
  onTestFinished(() => flush.mockRestore());
  const kept = new TestJournal(folder, {
    storeAnchor: async ({ seq }, durability) => void anchors.push(`${seq} ${durability}`),
  });
  const journal = await kept.open();
  await journal.append([record("a")]);
  const synced = journal.sync();
  await vi.waitFor(() => expect(flushed.length).toBe(1));
  // As in a log that is never at rest.
  await journal.append([record("b")]);
  flushed[0]?.resolve();
  await synced;
  expect(flushed.length).toBe(1);
  expect(anchors).toEqual(["1 power"]);

  const later = journal.sync();
  await vi.waitFor(() => expect(flushed.length).toBe(2));
  await journal.append([record("c")]);
  const last = journal.sync();
  flushed[1]?.resolve();
  await vi.waitFor(() => expect(flushed.length).toBe(3));
  flushed[2]?.resolve();
  await Promise.all([later, last]);
  expect(anchors.at(-1)).toBe("3 power");

  await journal.append([record("d")]);
  const closed = journal[Symbol.asyncDispose]();
  await vi.waitFor(() => expect(flushed.length).toBe(4));
  await journal.append([record("e")]);
  flushed[3]?.resolve();
  await vi.waitFor(() => expect(flushed.length).toBe(5));
  flushed[4]?.resolve();
  await closed;
  expect(anchors.at(-1)).toBe("5 power");
  expect(await dataOf(folder)).toEqual(["a", "b", "c", "d", "e"]);
});

test("each sync waits for the anchor that survives a power cut, also while another one stores it", async () => {
  const anchors: string[] = [];
  const gate = Promise.withResolvers<void>();
  const kept = new TestJournal(await temporaryFolder(), {
    storeAnchor: async ({ seq }, durability) => {
      if (durability === "power") await gate.promise;
      anchors.push(`${seq} ${durability}`);
    },
  });
  await using journal = await kept.open();
  const flush = vi.spyOn(DataFile.prototype, "synchronize");
  onTestFinished(() => flush.mockRestore());
  await journal.append([record("a")]);
  const settled: string[] = [];
  const first = journal.sync().then(() => settled.push("first"));
  await vi.waitFor(() => expect(flush.mock.results.length).toBe(1));
  await flush.mock.results[0]?.value;
  const second = journal.sync().then(() => settled.push("second"));
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  expect(settled).toEqual([]);
  gate.resolve();
  await Promise.all([first, second]);
  expect(anchors).toEqual(["1 power"]);
  // Nobody waits for the next one.
  await journal.append([record("b")]);
  kept.clock.advance(1000);
  await vi.waitFor(() => expect(anchors).toEqual(["1 power", "2 process"]));
});

test("sync comes to an end while large records are appended one after the other", async () => {
  const kept = new TestJournal(await temporaryFolder());
  await using journal = await kept.open();
  const over = new AbortController();
  let appended = 0;
  const writing = (async () => {
    for (; !over.signal.aborted && appended < 2000; appended++)
      await journal.append([record("x".repeat(100_000))]);
  })();
  await nextTurn();
  await journal.sync();
  over.abort();
  await writing;
  expect(appended).toBeLessThan(2000);
});

/** One writer that appends only to the head that it has seen, and looks again after each conflict. */
async function write(journal: Journal<TestKind>, name: string, sizes: readonly number[]): Promise<void> {
  let seen: ChainEnd = chainStart;
  for (const [turn, size] of sizes.entries()) {
    const records = Array.from({ length: size }, (_, n) => record(`${name} ${turn} ${n}`));
    for (let isWritten = false; !isWritten;) {
      try {
        const written = await journal.append(records, { expectedHead: seen });
        seen = written.at(-1)?.end ?? seen;
        isWritten = true;
      } catch (error) {
        if (!(error instanceof HeadConflict)) throw error;
        expect(error.head).not.toEqual(seen);
        seen = error.head;
      }
    }
  }
}

test("writers that compare and append lose nothing and interleave only between their groups", async () => {
  const turns = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(fc.array(turns, { minLength: 1, maxLength: 4 }), async (writers) => {
      const kept = new TestJournal(join(await temporaryFolder(), "journal"));
      await kept.within(async (journal) => {
        await Promise.all(writers.map((sizes, writer) => write(journal, String(writer), sizes)));
      });
      const written = (await dataOf(kept.folder)).map(String);
      const groups = new Map<string, string[]>();
      for (const text of written) {
        const group = text.slice(0, text.lastIndexOf(" "));
        groups.set(group, [...(groups.get(group) ?? []), text]);
      }
      // Each group is whole, in one piece, and in its order.
      expect(written).toEqual([...groups.values()].flat());
      const sizesOf = new Map([...groups].map(([group, texts]) => [group, texts.length]));
      expect(sizesOf).toEqual(
        new Map(
          writers.flatMap((sizes, writer) => sizes.map((size, turn) => [`${writer} ${turn}`, size] as const)),
        ),
      );
      expect(await verifyJournal(kept.folder, kept.anchor, testRecords)).toMatchObject({ ok: true });
    }),
    { numRuns: 30 },
  );
});

test("a journal's user declares the kinds of its records, and a line of another kind is none", async () => {
  const form = new RecordForm(["message", "tool_call"]);
  const folder = await temporaryFolder();
  const kept = new TestJournal(folder);
  await kept.within((journal) => journal.append([record("a")]));
  expect(await verifyJournal(folder, kept.anchor, form)).toMatchObject({
    ok: false,
    firstBad: { seq: 1, reason: "it is not a record" },
  });
  expect(form.kinds).toEqual(["message", "tool_call"]);
  for (const bad of ["", "Message", 'a","b', "a|b", "x".repeat(33)])
    expect(() => new RecordForm([bad])).toThrow("cannot be a kind of record");
});
