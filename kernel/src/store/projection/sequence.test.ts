import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import type { JournalRecord, TextIndex, TextKind } from "./port.ts";
import { maxGapMs } from "./places.ts";
import { endOf, redacting } from "./testing/test-memory.ts";
import { openTextIndex } from "./text-index.ts";
import { timesIn } from "./times.ts";

interface Said {
  readonly text: string;
  readonly kind?: TextKind;
  readonly source?: string;
  readonly position?: number;
  readonly timestamp?: string;
  readonly writtenMs?: number;
}

async function indexOf(...all: readonly Said[]): Promise<{ index: TextIndex; path: string }> {
  const path = join(await temporaryFolder(), "text.sqlite");
  const index = openTextIndex(path);
  onTestFinished(() => index.close());
  const records = all.map(({ text, kind = "knowledge", writtenMs = 0, ...place }, at): JournalRecord => {
    const data =
      kind === "knowledge"
        ? { variant: "v", data: {}, text, ...place }
        : { variant: "v", data: text, ...place };
    return { seq: at + 1, writtenMs, operation: "store", kind, id: `id-${at + 1}`, data };
  });
  index.apply(records, endOf(records));
  return { index, path };
}

const rows = (index: TextIndex, words: string, kind: TextKind = "knowledge"): number[] =>
  index.best(kind, words, { limit: 10 }).map(({ row }) => row);

describe("what is said next to a hit is found with it", () => {
  it("by position in a source, whatever the order of adding", async () => {
    const { index } = await indexOf(
      { text: "in June", source: "talk", position: 3 },
      { text: "when is the wedding?", source: "talk", position: 2 },
      { text: "far away", source: "talk", position: 9 },
      { text: "hello", source: "talk", position: 1 },
    );
    expect(rows(index, "wedding")).toEqual([2, 4, 1, 3]);
  });

  it("by time, as long as the gaps are short, for events as for items", async () => {
    for (const kind of ["temporal", "knowledge"] as const) {
      const { index } = await indexOf(
        { kind, text: "when is the wedding?" },
        { kind, text: "in June", writtenMs: maxGapMs },
        { kind, text: "much later", writtenMs: 2 * maxGapMs + 1 },
      );
      expect(rows(index, "wedding", kind)).toEqual([1, 2]);
    }
  });

  it("and never precedes the hit whose own words are best", async () => {
    const { index } = await indexOf(
      { text: "wedding wedding wedding" },
      ...Array.from({ length: 5 }, () => ({ text: "the wedding, and all that belongs to it" })),
    );
    expect(rows(index, "wedding")[0]).toBe(1);
  });
});

it("neighbours never cross kinds, sources, or given and missing positions", async () => {
  const { index } = await indexOf(
    { text: "wedding", source: "one", position: 1 },
    { text: "another source", source: "two", position: 2 },
    { text: "no source", position: 3 },
    { text: "no position", source: "one" },
    { kind: "temporal", text: "an event", source: "one", position: 2 },
  );
  expect(rows(index, "wedding")).toEqual([1]);
  expect(rows(index, "wedding", "temporal")).toEqual([]);
});

it("a forgotten item's words are not in the file, and its neighbours are not found by them", async () => {
  const { index, path } = await indexOf(
    { text: "hello", source: "talk", position: 1 },
    { text: "zyzzyva", source: "talk", position: 2 },
    { text: "goodbye", source: "talk", position: 3 },
  );
  expect(rows(index, "zyzzyva")).toEqual([2, 3, 1]);
  const forgetting = redacting(4, [2, 2]);
  index.apply([forgetting], endOf([forgetting]));
  expect(rows(index, "zyzzyva")).toEqual([]);
  // The remaining rows are neighbours now.
  expect(rows(index, "hello")).toEqual([1, 3]);
  index.close();
  for (const name of readdirSync(dirname(path))) {
    expect([name, readFileSync(join(dirname(path), name)).includes("zyzzyva")]).toEqual([name, false]);
  }
});

describe("times in words", () => {
  const nowMs = new Date(2026, 4, 20, 12).getTime();
  const day = (month: number, date: number): number => new Date(2026, month, date, 9).getTime();

  it.each<[question: string, asked: number[]]>([
    ["What did we do yesterday?", [day(4, 19)]],
    ["What happened two weeks ago?", [day(4, 6)]],
    ["Was haben wir gestern bei der Arbeit gemacht?", [day(4, 19)]],
    ["What was on 3 April 2026?", [day(3, 3)]],
    ["What did she plan in March 2026?", [day(2, 1), day(2, 31)]],
    ["What is her name?", []],
  ])("%s", async (question, asked) => {
    const times = await timesIn(question, nowMs);
    expect(times).toHaveLength(asked.length === 0 ? 0 : 1);
    for (const atMs of asked) {
      expect(times.some(({ fromMs, untilMs }) => atMs >= fromMs && atMs < untilMs)).toBe(true);
    }
  });

  it("a hit at the requested time comes first, and a time alone finds what happened then", async () => {
    const timestamp = (ms: number): string => new Date(ms).toISOString();
    const { index } = await indexOf(
      { kind: "temporal", text: "walked the dog", timestamp: timestamp(day(4, 12)) },
      { kind: "temporal", text: "walked the dog", timestamp: timestamp(day(4, 19)) },
      { kind: "temporal", text: "walked the dog", timestamp: timestamp(day(4, 20)) },
    );
    const asked = async (question: string): Promise<number[]> =>
      index
        .best("temporal", question, { limit: 10, times: await timesIn(question, nowMs) })
        .map(({ row }) => row);
    expect((await asked("Who walked the dog yesterday?"))[0]).toBe(2);
    expect(await asked("yesterday")).toEqual([2]);
  });
});

it("a text without neighbours is ranked alone", async () => {
  const { index } = await indexOf({ text: "wedding" }, { text: "in June" });
  expect(index.best("knowledge", "wedding", { limit: 10, isAlone: true }).map(({ row }) => row)).toEqual([1]);
});
