import { describe, expect, test } from "vitest";
import { compileSchedule } from "./cron.ts";

const now = Date.parse("2026-03-28T23:30:00.000Z");

function nextRuns(expression: string, timezone?: string): string[] {
  const schedule = compileSchedule(expression, timezone, now);
  if (!schedule.ok) throw new Error(schedule.message);
  return schedule.nextRuns(now, 2);
}

describe("next runs", () => {
  const cases: [expression: string, timezone: string | undefined, runs: string[]][] = [
    ["0 3 * * *", undefined, ["2026-03-29T03:00:00.000Z", "2026-03-30T03:00:00.000Z"]],
    // The night on which Berlin's clocks skip from 2 to 3.
    ["0 3 * * *", "Europe/Berlin", ["2026-03-29T01:00:00.000Z", "2026-03-30T01:00:00.000Z"]],
    ["*/30 * * * *", undefined, ["2026-03-29T00:00:00.000Z", "2026-03-29T00:30:00.000Z"]],
    ["@daily", undefined, ["2026-03-29T00:00:00.000Z", "2026-03-30T00:00:00.000Z"]],
    ["0 0 29 2 *", undefined, ["2028-02-29T00:00:00.000Z", "2032-02-29T00:00:00.000Z"]],
    ["*/10 * * * * *", undefined, ["2026-03-28T23:30:10.000Z", "2026-03-28T23:30:20.000Z"]],
  ];
  for (const [expression, timezone, runs] of cases) {
    test(`${expression} ${timezone ?? ""}`, () => expect(nextRuns(expression, timezone)).toEqual(runs));
  }
});

describe("runs between two times", () => {
  const between = (expression: string, timezone: string, after: string, through: string, count = 100) => {
    const schedule = compileSchedule(expression, timezone, now);
    if (!schedule.ok) throw new Error(schedule.message);
    return schedule
      .runsBetween(Date.parse(after), Date.parse(through), count)
      .map((run) => new Date(run).toISOString().slice(0, 16));
  };

  test("are later than the one and not later than the other", () => {
    expect(between("0 3 * * *", "UTC", "2026-03-01T03:00Z", "2026-03-03T03:00Z")).toEqual([
      "2026-03-02T03:00",
      "2026-03-03T03:00",
    ]);
    expect(between("0 3 * * *", "UTC", "2026-03-01T03:00Z", "2026-03-02T02:59Z")).toEqual([]);
    expect(between("0 3 * * *", "UTC", "2026-03-05T03:00Z", "2026-03-02T03:00Z")).toEqual([]);
  });

  test("of more than were asked for are the newest, in order", () => {
    expect(between("* * * * *", "UTC", "1990-01-01T00:00Z", "2026-03-02T03:00Z", 2)).toEqual([
      "2026-03-02T02:59",
      "2026-03-02T03:00",
    ]);
  });

  test("go by the time zone's clock: skipped at 2:30 it is 3:00, and at 2:30 twice it is the first", () => {
    expect(between("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00Z", "2026-03-30T12:00Z")).toEqual([
      "2026-03-28T01:30",
      "2026-03-29T01:00",
      "2026-03-30T00:30",
    ]);
    expect(between("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", "2026-10-26T12:00Z")).toEqual([
      "2026-10-25T00:30",
      "2026-10-26T01:30",
    ]);
  });

  test("go by the time zone's clock wherever the hour or the minute is a list, a range or a step", () => {
    const berlin = (expression: string, day: string, next: string) =>
      between(expression, "Europe/Berlin", `${day}T22:00Z`, `${next}T22:00Z`).map((run) => run.slice(11));
    expect(berlin("0 2,14 * * *", "2026-03-28", "2026-03-29")).toEqual(["01:00", "12:00"]);
    expect(berlin("*/15 2 * * *", "2026-03-28", "2026-03-29")).toEqual(["01:00"]);
    expect(berlin("0 2-3 * * *", "2026-03-28", "2026-03-29")).toEqual(["01:00"]);
    expect(berlin("0 2-3 * * *", "2026-10-24", "2026-10-25")).toEqual(["00:00", "02:00"]);
    expect(berlin("*/30 2 * * *", "2026-10-24", "2026-10-25")).toEqual(["00:00", "00:30"]);
    expect(between("0 0 * * *", "Africa/Cairo", "2026-04-23T12:00Z", "2026-04-24T12:00Z")).toEqual([
      "2026-04-23T22:00",
    ]);
  });

  test("of a schedule for every hour continue through a change of the clock", () => {
    for (const expression of ["30 * * * *", "30 */1 * * *", "30 0-23 * * *"]) {
      expect(
        between(expression, "Europe/Berlin", "2026-03-28T23:00Z", "2026-03-29T02:00Z"),
        expression,
      ).toEqual(["2026-03-28T23:30", "2026-03-29T00:30", "2026-03-29T01:30"]);
      expect(
        between(expression, "Europe/Berlin", "2026-10-24T23:00Z", "2026-10-25T02:00Z"),
        expression,
      ).toEqual(["2026-10-24T23:30", "2026-10-25T00:30", "2026-10-25T01:30"]);
    }
  });

  test("are the same from either end, over a change of the clock too", () => {
    for (const expression of ["30 2 * * *", "0 1-3 * * *", "15 0,2,3 * * SUN"]) {
      for (const zone of [
        "UTC",
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",
        "Africa/Cairo",
      ]) {
        const times = ["2026-03-01T00:00Z", "2026-04-30T00:00Z"] as const;
        const forward = between(expression, zone, ...times, 100_000);
        const newest = between(expression, zone, ...times, forward.length - 1);
        expect(newest, `${expression} ${zone}`).toEqual(forward.slice(1));
      }
    }
  });
});

describe("invalid schedules", () => {
  const cases: [expression: string, message: RegExp, timezone?: string][] = [
    ["61 * * * *", /minute: 61/],
    ["* * * *", /has 4 fields; cron has five/],
    ["", /has 0 fields/],
    ["0 0 30 2 *", /never comes true/],
    ["* * * * * * *", /has 7 fields/],
    ["@sometimes", /nicknames are @yearly/],
    ["2026-05-01T00:00:00Z", /has 1 fields/],
    ["0 3 * * *", /no time zone "Europe\/Berlln"/, "Europe/Berlln"],
    [`${"1,".repeat(200)}1 * * * *`, /at most 256/],
  ];
  for (const [expression, message, timezone] of cases) {
    test(`${expression.slice(0, 30)} ${timezone ?? ""}`, () => {
      const schedule = compileSchedule(expression, timezone, now);
      expect(schedule.ok ? "accepted" : schedule.message).toMatch(message);
    });
  }
});
