import { describe, expect, test } from "vitest";
import { graceMs, maxRunsWaiting, runsToFire } from "./catch-up.ts";

const now = 10_000_000;
const early = [now - 3 * graceMs, now - 2 * graceMs];
const late = now - graceMs;
const onTime = now - graceMs + 1;

describe("of the runs that are due", () => {
  test("skip tells of the newest where it is on time, and of none that was missed", () => {
    expect(runsToFire("skip", [...early, onTime], 0, now)).toEqual([onTime]);
    expect(runsToFire("skip", [...early, late], 0, now)).toEqual([]);
    expect(runsToFire("skip", [onTime, onTime + 1], 0, now)).toEqual([onTime + 1]);
  });

  test("once tells of the newest, however late it is", () => {
    expect(runsToFire("once", [...early, late], 0, now)).toEqual([late]);
    expect(runsToFire("once", [...early, onTime], 0, now)).toEqual([onTime]);
  });

  test("all tells of each in order, and of too many of the newest", () => {
    expect(runsToFire("all", [...early, late, onTime], 0, now)).toEqual([...early, late, onTime]);
    const many = Array.from({ length: maxRunsWaiting + 3 }, (_, n) => n);
    expect(runsToFire("all", many, 0, now)).toEqual(many.slice(3));
  });

  test("none joins one that waits; with all, those that wait count towards the bound", () => {
    expect(runsToFire("skip", [onTime], 1, now)).toEqual([]);
    expect(runsToFire("once", [onTime], 1, now)).toEqual([]);
    expect(runsToFire("all", [...early, onTime], maxRunsWaiting - 2, now)).toEqual([early[1], onTime]);
    expect(runsToFire("all", [onTime], maxRunsWaiting, now)).toEqual([]);
    expect(runsToFire("all", [onTime], maxRunsWaiting + 5, now)).toEqual([]);
  });

  test("nothing due, nothing told", () => {
    for (const rule of ["skip", "once", "all"] as const) expect(runsToFire(rule, [], 0, now)).toEqual([]);
  });
});
