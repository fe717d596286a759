import { expect, test } from "vitest";
import { DayCounts, maxCounted } from "./day-counts.ts";

const noon = new Date(2026, 10, 21, 12).getTime();
const hourMs = 3_600_000;

test("what is counted is of today, and gone with the day", () => {
  let now = noon;
  const counts = new DayCounts({ now: () => now });
  counts.add("a");
  counts.add("a");
  now += 11 * hourMs;
  counts.add("b");
  expect([counts.get("a"), counts.get("b"), counts.get("c")]).toEqual([2, 1, 0]);
  now += 2 * hourMs;
  expect(counts.get("a")).toBe(0);
  counts.add("a");
  expect([counts.get("a"), counts.get("b")]).toEqual([1, 0]);
});

test("no more things are counted than are kept", () => {
  const counts = new DayCounts({ now: () => noon });
  for (let index = 0; index <= maxCounted; index++) counts.add(String(index));
  counts.add("0");
  expect([counts.get("0"), counts.get(String(maxCounted))]).toEqual([2, 0]);
});
