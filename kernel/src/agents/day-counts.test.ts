import process from "node:process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Clock } from "../base/clock.ts";
import {
  DayCounts,
  dayOf,
  DayWatch,
  keptDays,
  maxCounted,
  type DayCountStatements,
  type KeptCount,
} from "./day-counts.ts";

const hourMs = 3_600_000;
const zone = process.env["TZ"];
let now = 0;

beforeEach(() => (now = new Date(2026, 10, 21, 12).getTime()));
afterEach(() => {
  if (zone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zone;
});

const begun = (kept: readonly KeptCount[] = []): DayCounts => new DayCounts({ now: () => now }, kept);

const described: DayCountStatements<KeptCount | readonly string[]> = {
  counted: (count) => count,
  kept: (days) => days,
};

test("what is counted is of today, by hook and of the agent as a whole, and gone with the day", () => {
  const counts = begun();
  counts.add("one", "a");
  counts.add("one", "a");
  now += 11 * hourMs;
  counts.add("one", "b");
  counts.add("two", "a");
  expect([counts.get("one", "a"), counts.get("one", "b"), counts.get("one", "c")]).toEqual([2, 1, 0]);
  expect([counts.get("one"), counts.get("two")]).toEqual([3, 1]);
  now += 2 * hourMs;
  expect(counts.get("one")).toBe(0);
  counts.add("one", "a");
  expect([counts.get("one"), counts.get("one", "b")]).toEqual([1, 0]);
});

test("no more things are counted than are kept", () => {
  const counts = begun();
  for (let index = 0; index <= maxCounted; index++) counts.add("one", String(index));
  counts.add("one", "0");
  expect([counts.get("one"), counts.get("one", "0")]).toEqual([maxCounted + 2, 2]);
  expect(counts.get("one", String(maxCounted))).toBe(0);
});

test("what was kept is counted on, on its own day only", () => {
  const today = dayOf(now);
  const kept = (day: string, count: number): KeptCount => ({ day, agent: "one", hook: "", count });
  const counts = begun([kept(today, 7), kept("2026-11-20", 5)]);
  counts.add("one", "a");
  expect(counts.get("one")).toBe(8);
});

test("only changes are saved, once, and again if that failed or more arrived meanwhile", () => {
  const counts = begun();
  counts.add("one", "a");
  counts.add("one", "a");
  const failed = counts.unsaved(described);
  expect(failed.statements).toEqual([
    { day: "2026-11-21", agent: "one", hook: "", count: 2 },
    { day: "2026-11-21", agent: "one", hook: "a", count: 2 },
  ]);
  const saved = counts.unsaved(described);
  expect(saved.statements).toEqual(failed.statements);
  counts.add("one", "b");
  saved.committed();
  expect(counts.unsaved(described).statements).toMatchObject([
    { hook: "", count: 3 },
    { hook: "b", count: 1 },
  ]);
});

test("expired days are removed, in memory and in the database", () => {
  const counts = begun();
  for (let day = 0; day < keptDays; day++, now += 24 * hourMs) counts.add("one", "a");
  counts.unsaved(described).committed();
  expect(counts.unsaved(described).statements).toEqual([]);
  counts.add("one", "a");
  const { statements, committed } = counts.unsaved(described);
  expect(statements.at(-1)).toEqual(["2026-11-22", "2026-11-23", "2026-11-24"]);
  committed();
  expect(counts.unsaved(described).statements).toEqual([]);
});

test("a clock that is set across midnight, forth and back, finds the counts of each day", () => {
  const counts = begun();
  counts.add("one", "a");
  now += 24 * hourMs;
  expect(counts.get("one")).toBe(0);
  counts.add("one", "a");
  counts.add("one", "a");
  now -= 24 * hourMs;
  expect(counts.get("one")).toBe(1);
  now += 24 * hourMs;
  expect(counts.get("one")).toBe(2);
});

describe.each([
  // It becomes summer: the day has 23 hours.
  ["Europe/Berlin", "2026-03-28T23:00:00Z", 23],
  ["Europe/Berlin", "2026-10-24T22:00:00Z", 25],
  // Midnight itself does not exist, or comes twice.
  ["Africa/Cairo", "2026-04-23T22:00:00Z", 23],
  ["America/Havana", "2026-11-01T04:00:00Z", 25],
  // Beyond both ends of UTC's day.
  ["Pacific/Kiritimati", "2026-11-21T10:00:00Z", 24],
  ["Pacific/Pago_Pago", "2026-11-21T11:00:00Z", 24],
])("in %s from %s", (timezone, beginning, hours) => {
  test(`a day lasts ${hours} hours, and watchers are notified once at its end`, () => {
    process.env["TZ"] = timezone;
    now = Date.parse(beginning);
    const end = now + hours * hourMs;
    const day = dayOf(now);
    expect([dayOf(now - 1) === day, dayOf(end - 1) === day, dayOf(end) === day]).toEqual([
      false,
      true,
      false,
    ]);
    const turns: number[] = [];
    let due: (() => void) | null = null;
    const clock: Clock = {
      now: () => now,
      monotonic: () => now,
      timer: (delayMs, run) => {
        due = () => {
          now += delayMs;
          run();
        };
        return { [Symbol.dispose]: () => void (due = null) };
      },
    };
    const watch = new DayWatch(clock, () => turns.push(now));
    // Four looks an hour, and one at the end of the day.
    for (let looks = 0; looks < 4 * (hours + 2); looks++) (due as (() => void) | null)?.();
    expect(turns).toEqual([end]);
    watch[Symbol.dispose]();
    expect(due).toBeNull();
  });
});
