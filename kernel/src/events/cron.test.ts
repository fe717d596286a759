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

describe("what is no schedule", () => {
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
