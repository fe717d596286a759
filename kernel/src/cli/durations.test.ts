import { expect, test } from "vitest";
import { sinceTime } from "./durations.ts";

// A Friday at noon, wherever the test runs.
const friday = new Date(2026, 10, 20, 12).getTime();
const local = (day: number): string => new Date(2026, 10, day).toISOString();

test.each([
  ["today", local(20)],
  ["friday", local(20)],
  ["Yesterday", local(19)],
  ["monday", local(16)],
  ["sunday", local(15)],
  [" saturday ", local(14)],
  ["2h", new Date(friday - 7_200_000).toISOString()],
  ["2026-11-01T00:00:00Z", "2026-11-01T00:00:00.000Z"],
])("%s", (text, expected) => expect(sinceTime(text, friday)).toBe(expected));

test.each(["someday", "", "mondays"])("%j is not a time", (text) => {
  expect(() => sinceTime(text, friday)).toThrow("is not a time");
});
