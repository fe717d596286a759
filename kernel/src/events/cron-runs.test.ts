import { describe, expect, test } from "vitest";
import { Runs } from "./cron-runs.ts";
import { compileSchedule } from "./cron.ts";

const secondMs = 1000;
const dayMs = 86_400 * secondMs;

/** A run in every second of the first twenty days, and none after; counts how often the next one is computed. */
function everySecondForTwentyDays() {
  const counter = { computed: 0 };
  const runs = new Runs((after) => {
    counter.computed++;
    const next = (Math.floor(after / secondMs) + 1) * secondMs;
    return next <= 20 * dayMs ? next : null;
  });
  return { runs, counter };
}

describe("the cost of a schedule", () => {
  test("the newest runs of a schedule that ran every second long ago are found without computing all of them", () => {
    const { runs, counter } = everySecondForTwentyDays();
    const newest = runs.newest(0, 300 * dayMs, 100);
    expect(newest).toEqual(Array.from({ length: 100 }, (_, index) => 20 * dayMs - (99 - index) * secondMs));
    expect(counter.computed).toBeLessThan(20_000);
  });

  test("the next run is computed once, however often it is asked for until then", () => {
    const { runs, counter } = everySecondForTwentyDays();
    for (let at = 0; at < secondMs; at++) expect(runs.after(at, 1)).toEqual([secondMs]);
    expect(counter.computed).toBe(1);
    expect(runs.next(secondMs)).toBe(2 * secondMs);
    // A clock that was set back.
    expect(runs.next(-1)).toBe(0);
    expect(runs.next(30 * dayMs)).toBeNull();
    expect(runs.next(40 * dayMs)).toBeNull();
    expect(counter.computed).toBe(4);
  });

  test("an expression is compiled once for all callers", () => {
    const now = Date.parse("2026-03-28T23:30:00.000Z");
    const compiled = compileSchedule("0 0 29 2 +1", "Europe/Berlin", now);
    expect(compileSchedule("0 0 29 2 +1", "Europe/Berlin", now)).toBe(compiled);
    expect(compileSchedule("0 0 29 2 +1", "UTC", now)).not.toBe(compiled);
  });
});
