import { describe, expect, it } from "vitest";
import type { Used } from "./messages.ts";
import { chartText, dayText, dollars, totalOf } from "./sums.ts";

const used = (key: string, more: Partial<Used> = {}): Used => ({
  key,
  requests: 1,
  input: 100,
  output: 20,
  cached: 3,
  ...more,
});

it.each([
  [0, "$0.00"],
  [1234.5, "$1,234.50"],
  [0.42, "$0.42"],
  [0.0042, "$0.0042"],
  [0.00004, "under $0.0001"],
])("%d dollars are %s", (usd, text) => expect(dollars(usd)).toBe(text));

it("a total has dollars where one of the parts has", () => {
  expect(totalOf([used("a"), used("b")])).toEqual({ requests: 2, input: 200, output: 40, cached: 6 });
  expect(totalOf([used("a", { usd: 1 }), used("b")])).toMatchObject({ usd: 1 });
  expect(totalOf([])).toEqual({ requests: 0, input: 0, output: 0, cached: 0 });
});

describe("a chart in words", () => {
  const days = [
    used("2026-02-27", { requests: 0, input: 0, output: 0, cached: 0 }),
    used("2026-02-28", { usd: 0.5 }),
    used("2026-03-01", { input: 5_000, usd: 0.25 }),
  ];
  it("says on how many days and on which most was used, by what the bars show", () => {
    expect(chartText(days, "tokens")).toMatch(
      /^Tokens by day: used on 2 of 3 days, most on Sun, Mar 1 with 5,023 tokens\./,
    );
    expect(chartText(days, "dollars")).toMatch(/most on Sat, Feb 28 with \$0\.50\./);
    expect(chartText(days.slice(0, 1), "tokens")).toBe("Tokens by day: none.");
  });
  it("has each day's figures", () => {
    expect(days.map(dayText)).toEqual([
      "Fri, Feb 27 (UTC): nothing",
      "Sat, Feb 28 (UTC): 1 request, 123 tokens, $0.50",
      "Sun, Mar 1 (UTC): 1 request, 5,023 tokens, $0.25",
    ]);
  });
});
