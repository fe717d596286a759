import { expect, test, vi } from "vitest";
import { systemClock } from "./clock.ts";

test("a delay longer than setTimeout takes neither fires at once nor too late", () => {
  vi.useFakeTimers();
  try {
    const days = (count: number): number => count * 86_400_000;
    let fired = 0;
    systemClock.timer(days(60), () => fired++);
    const cancelled = systemClock.timer(days(60), () => (fired += 100));
    vi.advanceTimersByTime(days(30));
    cancelled[Symbol.dispose]();
    vi.advanceTimersByTime(days(30) - 1);
    expect(fired).toBe(0);
    vi.advanceTimersByTime(1);
    expect(fired).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});

test("monotonic does not go backwards", () => {
  const first = systemClock.monotonic();
  expect(systemClock.monotonic()).toBeGreaterThanOrEqual(first);
});
