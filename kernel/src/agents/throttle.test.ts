import { expect, test } from "vitest";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { Throttle } from "./throttle.ts";

test("the first change is reported at once, later ones once in each interval, and none after the last", () => {
  const clock = new ManualClock();
  let told = 0;
  const paced = new Throttle(clock, 1000, () => (told += 1));
  paced.changed();
  expect(told).toBe(1);
  for (let n = 0; n < 2500; n++) {
    paced.changed();
    clock.advance(1);
  }
  expect(told).toBe(3);
  clock.advance(10_000);
  expect(told).toBe(4);
  paced.changed();
  expect(told).toBe(5);
});

test("nothing is reported after disposal", () => {
  const clock = new ManualClock();
  let told = 0;
  const paced = new Throttle(clock, 1000, () => (told += 1));
  paced.changed();
  paced.changed();
  paced[Symbol.dispose]();
  paced.changed();
  clock.advance(10_000);
  expect(told).toBe(1);
});
