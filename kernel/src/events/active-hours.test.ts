import { expect, test } from "vitest";
import { compileSchedule } from "./cron.ts";

const start = Date.parse("2026-07-01T00:00:00Z");

function runs(expression: string, hours: string, count: number, timezone = "UTC", from = start): string[] {
  const compiled = compileSchedule(expression, timezone, from, hours);
  return compiled.ok ? compiled.nextRuns(from, count) : [compiled.part, compiled.message];
}

test("only the runs within the hours are left; their end is not included", () => {
  expect(runs("0 */4 * * *", "08:00-20:00", 4)).toEqual([
    "2026-07-01T08:00:00.000Z",
    "2026-07-01T12:00:00.000Z",
    "2026-07-01T16:00:00.000Z",
    "2026-07-02T08:00:00.000Z",
  ]);
});

test("hours may go over midnight, and are those of the time zone", () => {
  expect(runs("0 */2 * * *", "22:00-06:00", 3)).toEqual([
    "2026-07-01T02:00:00.000Z",
    "2026-07-01T04:00:00.000Z",
    "2026-07-01T22:00:00.000Z",
  ]);
  // Summer time: two hours ahead.
  expect(runs("0 * * * *", "08:00-09:00", 1, "Europe/Berlin")).toEqual(["2026-07-01T06:00:00.000Z"]);
});

test("a run of each second is found behind hours of silence, also where the clocks change meanwhile", () => {
  expect(runs("* * * * * *", "08:00-20:00", 1)).toEqual(["2026-07-01T08:00:00.000Z"]);
  const night = Date.parse("2026-03-28T20:30:00Z");
  expect(runs("* * * * * *", "08:00-20:00", 1, "Europe/Berlin", night)).toEqual(["2026-03-29T06:00:00.000Z"]);
  const autumn = Date.parse("2026-10-24T20:30:00Z");
  expect(runs("* * * * * *", "08:00-20:00", 1, "Europe/Berlin", autumn)).toEqual([
    "2026-10-25T07:00:00.000Z",
  ]);
});

test("a schedule that is never within its hours is none; a rare one that sometimes is, is one", () => {
  expect(runs("0 3 * * *", "08:00-20:00", 1)).toEqual([
    "active_hours",
    'The schedule "0 3 * * *" never runs between 08:00-20:00.',
  ]);
  expect(runs("0 3 29 2 *", "08:00-20:00", 1)[0]).toBe("active_hours");
  expect(runs("0 9 29 2 *", "08:00-20:00", 1)).toEqual(["2028-02-29T09:00:00.000Z"]);
  expect(runs("0 3 * * *", "08:00-08:00", 1)[0]).toBe("active_hours");
});

test("runs that were missed are only those within the hours", () => {
  const compiled = compileSchedule("0 */6 * * *", "UTC", start, "08:00-20:00");
  if (!compiled.ok) expect.unreachable();
  const found = compiled.runsBetween(start, start + 2 * 24 * 60 * 60_000, 100);
  expect(found.map((run) => new Date(run).toISOString().slice(8, 13))).toEqual([
    "01T12",
    "01T18",
    "02T12",
    "02T18",
  ]);
  expect([7, 8, 19, 20].map((hour) => compiled.isActive(start + hour * 60 * 60_000))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});
