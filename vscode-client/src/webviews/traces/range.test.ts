import { describe, expect, it } from "vitest";
import { localMinute, spanOf, type Range, type RangeProblem, type Span } from "./range.ts";

const now = "2026-11-21T20:55:30";
/** In the zone of whoever runs this. */
const utc = (local: string): string => new Date(local).toISOString();

function check(range: Partial<Range>, expected: Span | Pick<RangeProblem, "field">): void {
  expect(spanOf({ from: "", to: "", ...range }, Date.parse(now))).toMatchObject(expected);
}

describe("a range of time", () => {
  it.each<[string, Partial<Range>, Span]>([
    ["that is open is all of it", {}, {}],
    ["that only begins", { from: "2026-11-21T20:00" }, { since: utc("2026-11-21T20:00:00.000") }],
    ["ends with its last minute", { to: "2026-11-21T20:00" }, { until: utc("2026-11-21T20:00:59.999") }],
    ["ends with its last second", { to: "2026-11-21T20:00:07" }, { until: utc("2026-11-21T20:00:07.999") }],
    ["ends with its millisecond", { to: "2026-11-21T20:00:07.5" }, { until: utc("2026-11-21T20:00:07.500") }],
    [
      "may be one minute",
      { from: "2026-11-21T20:00", to: "2026-11-21T20:00" },
      { since: utc("2026-11-21T20:00:00.000"), until: utc("2026-11-21T20:00:59.999") },
    ],
    ["may end in the future", { to: "2027-01-01T00:00" }, { until: utc("2027-01-01T00:00:59.999") }],
  ])("%s", (_case, range, span) => {
    check(range, span);
  });

  it.each<[string, Partial<Range>, keyof Range]>([
    ["that ends before it begins", { from: "2026-11-21T20:00", to: "2026-11-21T19:59" }, "to"],
    ["that begins in the future", { from: "2026-11-21T20:56" }, "from"],
    ["with a day that no month has", { from: "2026-13-41T20:00" }, "from"],
    ["with a year of five digits", { to: "12026-11-21T20:00" }, "to"],
    ["that was kept as something else", { to: "<img src=x>" }, "to"],
  ])("%s says so, and where", (_case, range, field) => {
    check(range, { field });
  });

  it("is offered as the inputs write it", () => {
    const offered = localMinute(Date.parse(now));
    expect(offered).toBe("2026-11-21T20:55");
    check({ from: offered }, { since: utc("2026-11-21T20:55:00.000") });
  });
});
