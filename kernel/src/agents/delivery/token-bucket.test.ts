import { expect, it } from "vitest";
import { TokenBucket } from "./token-bucket.ts";

it("lets a burst of one second's worth through, then delays evenly, and drops nothing", () => {
  const throttle = new TokenBucket(10, 0);
  const delays = Array.from({ length: 15 }, () => throttle.take(0));
  expect(delays.slice(0, 10)).toEqual(Array(10).fill(0));
  expect(delays.slice(10)).toEqual([100, 200, 300, 400, 500]);
});

it("refills with time, never beyond a second's worth, and survives a stopped clock", () => {
  const throttle = new TokenBucket(10, 0);
  for (let count = 0; count < 10; count++) throttle.take(0);
  expect(throttle.take(100)).toBe(0);
  expect(throttle.take(100)).toBe(100);
  const rested = Array.from({ length: 11 }, () => throttle.take(60_000));
  expect(rested.filter((delay) => delay === 0)).toHaveLength(10);
});
