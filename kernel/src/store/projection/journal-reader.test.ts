import { appendFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { type ChainEnd, chainStart } from "../../memory-contract/records.ts";
import { projectionBounds } from "../bounds.ts";
import type { StoreMemory } from "../../memory-contract/store-port.ts";
import { TestJournal } from "../testing/test-journal.ts";
import { JournalMismatch, JournalReader } from "./journal-reader.ts";
import type { JournalRecord } from "./port.ts";

async function read(
  reader: JournalReader,
  after: ChainEnd,
  memory: StoreMemory,
): Promise<{ records: JournalRecord[]; ends: ChainEnd[] }> {
  const records: JournalRecord[] = [];
  const ends: ChainEnd[] = [];
  for await (const batch of reader.read(after, memory)) {
    records.push(...batch.records);
    ends.push(batch.end);
  }
  return { records, ends };
}

const seqs = (records: readonly JournalRecord[]): number[] => records.map(({ seq }) => seq);
const from = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at);
const storageError = expect.objectContaining({ code: "StorageError" });

describe("records", () => {
  test("come with everything a projection needs, across segments, in bounded batches", async () => {
    const journal = new TestJournal(await temporaryFolder(), "a", 4000);
    journal.appendEvents(12_001, (n) => ({ data: { text: `${n} Größe 🌊 "quoted" ,"salt":"x`, n } }));
    const { records, ends } = await read(new JournalReader(), chainStart, journal.memory);
    expect(seqs(records)).toEqual(from(1, 12_001));
    expect(records[4321]).toEqual({
      seq: 4322,
      writtenMs: Date.parse("2026-03-01T00:00:00.000Z") + 4321,
      operation: "store",
      kind: "temporal",
      id: "event-4322",
      data: {
        variant: "noted",
        timestamp: "2026-03-01T01:12:02.000Z",
        data: { text: '4322 Größe 🌊 "quoted" ,"salt":"x', n: 4322 },
      },
    });
    expect(ends.at(-1)).toEqual(journal.end);
    expect(ends.length).toBeGreaterThanOrEqual(12_001 / projectionBounds.maxBatchRecords);
  });

  test("of working memory and policy are skipped, redactions of any kind are not", async () => {
    const journal = new TestJournal(await temporaryFolder());
    const data = '{"variant":"a"}';
    journal.append(
      { operation: "store", kind: "working", id: "w", data: "[1]" },
      { operation: "store", kind: "knowledge", id: "k", data },
      { operation: "store", kind: "policy", id: "p", data: "{}" },
      { operation: "redact", kind: "working", id: "w", data: '{"reason":"old","seqs":[[1,1]]}' },
      { operation: "store", kind: "working", id: "w", data: "[2]" },
    );
    const { records, ends } = await read(new JournalReader(), chainStart, journal.memory);
    expect(seqs(records)).toEqual([2, 4]);
    expect(ends).toEqual([journal.end]);
  });

  test("that were redacted have no data", async () => {
    const journal = new TestJournal(await temporaryFolder());
    journal.appendEvents(3);
    const [path = ""] = journal.segments();
    const lines = readFileSync(path, "utf8").split("\n");
    lines[1] = (lines[1] ?? "").replace(/^\{"data":.*,"salt":"[0-9a-f]{32}",/, '{"redacted":true,');
    writeFileSync(path, lines.join("\n"));
    const { records } = await read(new JournalReader(), chainStart, journal.memory);
    expect(records.map(({ data }) => data === null)).toEqual([false, true, false]);
    expect(records[1]).toMatchObject({ seq: 2, id: "event-2", operation: "store", kind: "temporal" });
  });

  test("beyond the acknowledged end are not read, nor is half a line there", async () => {
    const journal = new TestJournal(await temporaryFolder());
    journal.appendEvents(5);
    const { memory } = journal;
    journal.appendEvents(5);
    appendFileSync(journal.segments()[0] ?? "", '{"data":{"unfin');
    const reader = new JournalReader();
    expect(seqs((await read(reader, chainStart, memory)).records)).toEqual(from(1, 5));
    expect(seqs((await read(reader, memory.end, journal.memory)).records)).toEqual(from(6, 10));
  });

  test("of a megabyte pass through", async () => {
    const journal = new TestJournal(await temporaryFolder());
    journal.appendEvents(12, (n) => ({ data: `${n}`.padEnd(1024 * 1024 - 200, "x") }));
    const { records, ends } = await read(new JournalReader(), chainStart, journal.memory);
    expect(seqs(records)).toEqual(from(1, 12));
    expect(ends.length).toBeGreaterThan(1);
  });
});

describe("continuing", () => {
  test("where it stopped, as the journal grows, also into the next segment", async () => {
    const journal = new TestJournal(await temporaryFolder(), "a", 10);
    const reader = new JournalReader();
    while (journal.end.seq < 60) {
      const last = journal.end;
      journal.appendEvents(7);
      const { records } = await read(reader, last, journal.memory);
      expect(seqs(records)).toEqual(from(last.seq + 1, journal.end.seq));
    }
  });

  test("at any record, by its number", async () => {
    const journal = new TestJournal(await temporaryFolder(), "a", 1000);
    const ends: ChainEnd[] = [chainStart];
    for (let n = 0; n < 2500; n++) {
      journal.appendEvents(1, () => ({ data: "x".repeat((n * 7919) % 900) }));
      ends.push(journal.end);
    }
    for (const seq of [0, 1, 2, 500, 999, 1000, 1001, 1500, 1999, 2000, 2499]) {
      const { records } = await read(new JournalReader(), ends[seq] ?? chainStart, journal.memory);
      expect(seqs(records)).toEqual(from(seq + 1, 2500));
    }
    expect(await new JournalReader().holds(journal.end, journal.memory)).toBe(true);
    const other = { seq: 700, hash: ends[701]?.hash ?? "" };
    expect(await new JournalReader().holds(other, journal.memory)).toBe(false);
    expect(await new JournalReader().holds({ ...journal.end, seq: 2501 }, journal.memory)).toBe(false);
  });

  test("after its segments were rewritten, whether that was reported or not yet", async () => {
    const journal = new TestJournal(await temporaryFolder());
    journal.appendEvents(50, () => ({ data: "long".repeat(50) }));
    const reader = new JournalReader();
    await read(reader, chainStart, journal.memory);
    const last = journal.end;
    const [path = ""] = journal.segments();
    const shorter = readFileSync(path, "utf8").replaceAll(
      /^\{"data":.*?,"salt":"[0-9a-f]{32}",/gm,
      '{"redacted":true,',
    );
    writeFileSync(path, shorter);
    journal.appendEvents(3);
    expect(seqs((await read(reader, last, journal.memory)).records)).toEqual([51, 52, 53]);
    journal.rewrites++;
    expect(await reader.holds(last, journal.memory)).toBe(true);
    expect(seqs((await read(reader, last, journal.memory)).records)).toEqual([51, 52, 53]);
  });
});

describe("another journal", () => {
  test.each([
    ["shorter", 5],
    ["as long", 10],
    ["longer", 20],
  ])("in its place, %s, is told from the one that was followed", async (_, count) => {
    const journal = new TestJournal(await temporaryFolder());
    journal.appendEvents(10);
    const reader = new JournalReader();
    await read(reader, chainStart, journal.memory);
    const last = journal.end;
    journal.startAnew();
    journal.appendEvents(count, (n) => ({ data: { other: n } }));
    expect(await new JournalReader().holds(last, journal.memory)).toBe(false);
    if (count > 10) {
      await expect(read(reader, last, journal.memory)).rejects.toThrow(JournalMismatch);
    }
    await expect(read(new JournalReader(), last, { ...journal.memory })).rejects.toThrow(JournalMismatch);
  });

  test("than the kernel has proven is not read to the end", async () => {
    const journal = new TestJournal(await temporaryFolder());
    journal.appendEvents(10);
    const [path = ""] = journal.segments();
    const { memory } = journal;
    const whole = readFileSync(path, "utf8");
    for (const [damaged, seq] of [
      [whole.slice(0, whole.length / 2), 5],
      [whole.replace('{"n":4}', '{"n":4'), 4],
      [whole.replace('"seq":7,', '"seq":8,'), 7],
      [whole.replace(/"hash":"[0-9a-f]{8}(?=[^\n]*"seq":6,)/, '"hash":"00000000'), 7],
      ["no journal\n", 1],
    ] as const) {
      writeFileSync(path, damaged);
      await expect(read(new JournalReader(), chainStart, memory), `seq ${seq}`).rejects.toThrow(storageError);
      await expect(read(new JournalReader(), chainStart, memory)).rejects.toThrow(`seq ${seq}`);
    }
    truncateSync(path, 0);
    await expect(read(new JournalReader(), chainStart, memory)).rejects.toThrow("ends at seq 0");
    const end = { seq: 10, hash: "f".repeat(64) };
    writeFileSync(path, whole);
    await expect(read(new JournalReader(), chainStart, { ...memory, end })).rejects.toThrow(
      "is not the one that was written",
    );
  });
});
