import { expect, test } from "vitest";
import { ManualClock } from "./manual-clock.ts";

test("timers fire in the order in which they are due, each at its own moment, new ones included", () => {
  const clock = new ManualClock(1000);
  const fired: string[] = [];
  const note = (name: string) => (): void => void fired.push(`${name}@${clock.now()}`);
  clock.timer(20, note("late"));
  clock.timer(10, () => {
    note("early")();
    clock.timer(5, note("nested"));
    clock.timer(500, note("never"));
  });
  clock.timer(10, note("second"));
  clock.timer(15, note("cancelled"))[Symbol.dispose]();
  clock.advance(30);
  expect(fired).toEqual(["early@1010", "second@1010", "nested@1015", "late@1020"]);
  expect([clock.now(), clock.monotonic(), clock.pendingTimers]).toEqual([1030, 30, 1]);
});

test("advanceAsync lets code that awaits a timer start the next one", async () => {
  const clock = new ManualClock();
  let rounds = 0;
  void (async () => {
    for (; rounds < 3; rounds++) await new Promise<void>((resolve) => void clock.timer(10, resolve));
  })();
  await clock.advanceAsync(30);
  expect(rounds).toBe(3);
});

test("setting the wall clock moves no timer", () => {
  const clock = new ManualClock(1000);
  let fired = false;
  clock.timer(10, () => (fired = true));
  clock.setNow("2030-01-01T00:00:00.000Z");
  expect([fired, clock.now(), clock.monotonic()]).toEqual([false, Date.parse("2030-01-01T00:00:00.000Z"), 0]);
});
