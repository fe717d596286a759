import { describe, expect, test } from "vitest";
import { graceMs, maxRunsWaiting, runsToFire } from "./catch-up.ts";

type Rule = Parameters<typeof runsToFire>[0];

const now = 10_000_000;
const early = [now - 3 * graceMs, now - 2 * graceMs];
const late = now - graceMs;
const onTime = now - graceMs + 1;
const [skip, once, all] = (["skip", "once", "all"] as const).map((catchUp) => ({
  catchUp,
  overlap: "skip" as const,
})) as [Rule, Rule, Rule];

describe("of the runs that are due", () => {
  test("skip delivers the newest run if it is on time, and no missed one", () => {
    expect(runsToFire(skip, [...early, onTime], 0, now)).toEqual([onTime]);
    expect(runsToFire(skip, [...early, late], 0, now)).toEqual([]);
    expect(runsToFire(skip, [onTime, onTime + 1], 0, now)).toEqual([onTime + 1]);
  });

  test("once delivers the newest run, however late it is", () => {
    expect(runsToFire(once, [...early, late], 0, now)).toEqual([late]);
    expect(runsToFire(once, [...early, onTime], 0, now)).toEqual([onTime]);
  });

  test("all delivers each run in order, and of too many only the newest", () => {
    expect(runsToFire(all, [...early, late, onTime], 0, now)).toEqual([...early, late, onTime]);
    const many = Array.from({ length: maxRunsWaiting + 3 }, (_, n) => n);
    expect(runsToFire(all, many, 0, now)).toEqual(many.slice(3));
  });

  test("no run is merged into a waiting one; with all, waiting runs count towards the limit", () => {
    expect(runsToFire(skip, [onTime], 1, now)).toEqual([]);
    expect(runsToFire(once, [onTime], 1, now)).toEqual([]);
    expect(runsToFire(all, [...early, onTime], maxRunsWaiting - 2, now)).toEqual([early[1], onTime]);
    expect(runsToFire(all, [onTime], maxRunsWaiting, now)).toEqual([]);
    expect(runsToFire(all, [onTime], maxRunsWaiting + 5, now)).toEqual([]);
  });

  test("where runs queue, all that are on time are delivered beside waiting ones, and missed ones by their rule", () => {
    const queue = { overlap: "queue" as const };
    expect(runsToFire({ ...skip, ...queue }, [...early, onTime, onTime + 1], 3, now)).toEqual([
      onTime,
      onTime + 1,
    ]);
    expect(runsToFire({ ...once, ...queue }, [...early, late], 3, now)).toEqual([late]);
    expect(runsToFire({ ...once, ...queue }, [...early, onTime, onTime + 1], 3, now)).toEqual([
      onTime,
      onTime + 1,
    ]);
    expect(runsToFire({ ...skip, ...queue }, [onTime], maxRunsWaiting, now)).toEqual([]);
  });

  test("without a due run, nothing is delivered", () => {
    for (const rule of [skip, once, all, { ...skip, overlap: "queue" as const }])
      expect(runsToFire(rule, [], 0, now)).toEqual([]);
  });
});
