import { describe, expect, it } from "vitest";
import { binsOf, endOf } from "./days.ts";

/** The days up to 1 March 2026, the oldest first. */
const lastDays = (days: number): string[] =>
  Array.from({ length: days }, (_, index) =>
    new Date(Date.UTC(2026, 2, 2 + index - days)).toISOString().slice(0, 10),
  );

describe("days", () => {
  it("are those of UTC, over the end of a month", () => {
    expect(endOf("2026-02-28")).toBe("2026-03-01T00:00:00.000Z");
  });
});

describe("bins", () => {
  it("follow each other without a gap, so that a quiet day is seen as one", () =>
    expect(binsOf({ "2026-02-27T00:00:00.000Z": 2, "2026-03-01": 5 }, 60)).toEqual([
      { from: "2026-02-27", to: "2026-02-27", count: 2 },
      { from: "2026-02-28", to: "2026-02-28", count: 0 },
      { from: "2026-03-01", to: "2026-03-01", count: 5 },
    ]));

  it("are several days each where the days are too many, and lose no event", () => {
    const groups = Object.fromEntries(lastDays(365).map((day, index) => [day, index]));
    const bins = binsOf(groups, 60);
    expect(bins.length).toBeLessThanOrEqual(60);
    expect(bins.reduce((sum, { count }) => sum + count, 0)).toBe((364 * 365) / 2);
    expect(bins[0]?.from).toBe("2025-03-02");
    expect(bins.slice(1).every(({ from }, index) => from === endOf(bins[index]?.to ?? "").slice(0, 10))).toBe(
      true,
    );
  });

  it("leave out invalid days, and are empty if there are none", () => {
    expect(binsOf({}, 60)).toEqual([]);
    expect(binsOf({ "<img>": 3 }, 60)).toEqual([]);
  });
});
