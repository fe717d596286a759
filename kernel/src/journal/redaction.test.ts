import { open, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { storageError } from "../base/errors.ts";
import { FileReplacement } from "../platform/files/file-replacement.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import type { Journal } from "./journal.ts";
import { verifyJournal } from "./verify.ts";
import { SeqSet } from "./seq-set.ts";
import { readSegments, type TestKind, TestJournal, testRecords } from "./testing/journals.ts";

afterEach(() => vi.restoreAllMocks());

async function append(journal: Journal<TestKind>, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const data = JSON.stringify({ text: `secret ${journal.end.seq + 1}` });
    await journal.append([{ operation: "store", kind: "temporal", id: "é", data }]);
  }
}

const lines = async (folder: string): Promise<string[]> =>
  (await readSegments(folder)).flat().map((line) => line.toString("latin1"));
const sizeOnDisk = async (folder: string): Promise<number> => {
  const sizes = (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
};

describe("a redaction", () => {
  test("removes data and salt of the chosen records, in every segment, and leaves everything else byte for byte", async () => {
    const kept = new TestJournal(await temporaryFolder());
    await kept.within(async (journal) => {
      await append(journal, 12);
      const before = await lines(kept.folder);
      const [first, second, last] = [2, 3, 12];
      const outcome = await journal.redact(({ seq }) => [first, second, last].includes(seq), "é", "told to");
      expect(outcome).toEqual({ seqs: [13], records: 3 });
      const after = await lines(kept.folder);
      expect(after).toHaveLength(13);
      for (const [index, line] of before.entries()) {
        const isRedacted = [first, second, last].includes(index + 1);
        const rest = /,"hash":"[0-9a-f]{64}","data_hash".*\n$/s.exec(line)?.[0] ?? "";
        expect(after[index]).toBe(isRedacted ? `{"redacted":true${rest}` : line);
      }
      expect(JSON.parse(after[12] ?? "")).toMatchObject({
        operation: "redact",
        kind: "temporal",
        data: {
          reason: "told to",
          seqs: [
            [2, 3],
            [12, 12],
          ],
        },
      });
      expect(journal.size).toBe(await sizeOnDisk(kept.folder));
      expect(journal.tally.stored("temporal")).toBe(9);
      expect(journal.redactedRecords).toBe(3);
      expect(kept.anchor).toMatchObject({ seq: 13, size: journal.size, carriedOut: 13 });
      // The last segment was among them: what comes goes into the new file.
      await append(journal, 2);
      expect(await journal.verify()).toMatchObject({ ok: true, records: 15 });
    });
    expect(await verifyJournal(kept.folder, kept.anchor, testRecords)).toMatchObject({
      ok: true,
      records: 15,
    });
    await kept.within(async (journal) => {
      expect(journal.tally.stored("temporal")).toBe(11);
      expect(journal.size).toBe(await sizeOnDisk(kept.folder));
    });
  });

  test("loses no concurrent append, also in the segment that is being replaced", async () => {
    const kept = new TestJournal(await temporaryFolder(), { segmentBytes: 1_000_000 });
    await kept.within(async (journal) => {
      await append(journal, 300);
      const appended: Promise<unknown>[] = [];
      const rename = vi.spyOn(FileReplacement.prototype, "synchronize");
      rename.mockImplementationOnce(async function (this: FileReplacement) {
        appended.push(append(journal, 20));
        await appended[0];
      });
      const redacting = journal.redact(({ seq }) => seq % 2 === 0, "é", "every second");
      await redacting;
      appended.push(append(journal, 5), journal.sync());
      await Promise.all(appended);
      expect(await journal.verify()).toMatchObject({ ok: true, records: 326 });
      expect(journal.tally.stored("temporal")).toBe(175);
      expect((await lines(kept.folder)).filter((line) => line.startsWith('{"redacted"'))).toHaveLength(150);
    });
    await kept.within((journal) => append(journal, 1));
  });

  test("twice at once, and a third time: each record is named once, and redact records are never redacted", async () => {
    const kept = new TestJournal(await temporaryFolder());
    await kept.within(async (journal) => {
      await append(journal, 6);
      const outcomes = await Promise.all([
        journal.redact(() => true, "é", "all"),
        journal.redact(() => true, "é", "all"),
        journal.verify(),
      ]);
      expect(outcomes.slice(0, 2)).toEqual([
        { seqs: [7], records: 6 },
        { seqs: [], records: 0 },
      ]);
      expect(outcomes[2]).toMatchObject({ ok: true });
      expect(await journal.redact(() => true, "é", "all")).toEqual({ seqs: [], records: 0 });
      expect(await journal.verify()).toMatchObject({ ok: true, records: 7 });
    });
  });

  test("works if the journal is full, and makes room", async () => {
    let maxBytes = Infinity;
    const kept = new TestJournal(await temporaryFolder(), { maxBytes: () => maxBytes });
    await kept.within(async (journal) => {
      await journal.append([
        {
          operation: "store",
          kind: "temporal",
          id: "x",
          data: JSON.stringify("x".repeat(3000)),
        },
      ]);
      maxBytes = journal.size;
      await expect(append(journal, 1)).rejects.toMatchObject({
        code: "LimitExceeded",
        message: "full",
        facts: { limit: "journal_bytes" },
      });
      await journal.redact(() => true, "x", "full");
      expect(journal.size).toBeLessThan(maxBytes);
      await append(journal, 1);
    });
  });

  test("of more ranges than one record names is named by several", async () => {
    const kept = new TestJournal(await temporaryFolder(), { segmentBytes: 1e9 });
    await kept.within(async (journal) => {
      const data = '"x"';
      await Promise.all(
        Array.from({ length: 20_040 }, () =>
          journal.append([{ operation: "store", kind: "temporal", id: "x", data }]),
        ),
      );
      const outcome = await journal.redact(({ seq }) => seq % 2 === 1, "x", "odd");
      expect(outcome).toEqual({ seqs: [20_041, 20_042], records: 10_020 });
      expect(await journal.verify()).toMatchObject({ ok: true, records: 20_042 });
    });
  });
});

describe("a disk that fails under a redaction", () => {
  const noSpace = (): Promise<never> => Promise.reject(storageError("no space is left on the disk (ENOSPC)"));
  const failures: [string, () => void][] = [
    ["making the new file", () => vi.spyOn(FileReplacement, "begin").mockImplementationOnce(noSpace)],
    ["writing it", () => vi.spyOn(FileReplacement.prototype, "write").mockImplementationOnce(noSpace)],
    [
      "bringing it to the disk",
      () => vi.spyOn(FileReplacement.prototype, "synchronize").mockImplementationOnce(noSpace),
    ],
  ];

  test.each(failures)(
    "at %s: the segment is unchanged, and the next redaction completes it",
    async (_step, fail) => {
      const kept = new TestJournal(await temporaryFolder());
      await kept.within(async (journal) => {
        await append(journal, 8);
        const before = await lines(kept.folder);
        fail();
        await expect(journal.redact(({ seq }) => seq === 2, "é", "first")).rejects.toMatchObject({
          code: "StorageError",
        });
        expect(journal.isBroken).toBe(false);
        expect((await lines(kept.folder)).slice(0, 8)).toEqual(before);
        expect(await journal.verify()).toMatchObject({ ok: true, records: 9 });
        await append(journal, 1);
        expect(await journal.redact(({ seq }) => seq <= 3, "é", "second")).toEqual({
          seqs: [11],
          records: 2,
        });
        expect((await lines(kept.folder)).slice(0, 4).map((line) => line.startsWith('{"redacted"'))).toEqual([
          true,
          true,
          true,
          false,
        ]);
        expect(await journal.verify()).toMatchObject({ ok: true, records: 11 });
        expect(journal.size).toBe(await sizeOnDisk(kept.folder));
      });
      // Nothing half is left beside the segments.
      expect((await readdir(kept.folder)).filter((name) => !name.endsWith(".ndjson"))).toEqual([]);
    },
  );

  test.each(failures)(
    "at %s, and then the process ends: the next opening can finish it",
    async (_step, fail) => {
      const kept = new TestJournal(await temporaryFolder());
      await kept.within(async (journal) => {
        await append(journal, 8);
        fail();
        await expect(journal.redact(({ seq }) => seq === 2, "é", "first")).rejects.toMatchObject({
          code: "StorageError",
        });
      });
      expect(kept.anchor.carriedOut).toBe(0);
      await kept.within(async (journal) => {
        expect(journal.tally.stored("temporal")).toBe(8);
        await journal.finishRedactions();
        expect(journal.tally.stored("temporal")).toBe(7);
      });
      expect(kept.anchor.carriedOut).toBe(9);
      expect((await lines(kept.folder))[1]).toMatch(/^\{"redacted":true/);
      expect(await verifyJournal(kept.folder, kept.anchor, testRecords)).toMatchObject({
        ok: true,
        records: 9,
      });
    },
  );

  test("at the rename: only reading again shows which of the two files is there", async () => {
    const kept = new TestJournal(await temporaryFolder());
    const journal = await kept.open();
    await append(journal, 3);
    const original = FileReplacement.prototype.rename;
    vi.spyOn(FileReplacement.prototype, "rename").mockImplementationOnce(async function (
      this: FileReplacement,
    ) {
      await original.call(this);
      await noSpace();
    });
    const redacting = journal.redact(() => true, "é", "all");
    const late = redacting.catch(() => append(journal, 1));
    await expect(redacting).rejects.toMatchObject({ code: "StorageError" });
    await expect(late).rejects.toMatchObject({ code: "StorageError" });
    expect(journal.isBroken).toBe(true);
    await journal[Symbol.asyncDispose]();
    await kept.within(async (journal) => {
      await journal.finishRedactions();
      await append(journal, 1);
      expect(await journal.verify()).toMatchObject({ ok: true, records: 5 });
      expect(journal.tally.stored("temporal")).toBe(1);
    });
  });
});

test("a segment that somebody changed under a redaction is left as it is", async () => {
  const kept = new TestJournal(await temporaryFolder());
  const journal = await kept.open();
  await append(journal, 8);
  const path = join(kept.folder, "000001.ndjson");
  const whole = await readFile(path);
  await using file = await open(path, "r+");
  await file.write("#", whole.indexOf('"seq":2'));
  const changed = await readFile(path);
  await expect(journal.redact(({ seq }) => seq === 1, "é", "x")).rejects.toMatchObject({
    code: "StorageError",
  });
  expect(await readFile(path)).toEqual(changed);
  expect(await journal.verify()).toMatchObject({ firstBad: { seq: 2 } });
  await journal[Symbol.asyncDispose]();
});

test("a set of seqs is a set of numbers", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 300 }))),
      fc.integer({ min: 1, max: 310 }),
      (steps, from) => {
        const seqs = new SeqSet();
        const model = new Set<number>();
        for (const [isAdded, seq] of steps) {
          if (isAdded) expect(seqs.add(seq)).toBe(!model.has(seq));
          else seqs.delete(seq);
          if (isAdded) model.add(seq);
          else model.delete(seq);
        }
        expect(seqs.size).toBe(model.size);
        const next = [...model].filter((seq) => seq >= from).toSorted((a, b) => a - b)[0];
        expect(seqs.next(from)).toBe(next ?? null);
      },
    ),
  );
});
