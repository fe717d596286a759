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

test("a timer never fires before its delay has passed, even if setTimeout does", async () => {
  const delays = Array.from({ length: 200 }, (_, at) => 1 + (at % 40) + at / 200);
  const early = await Promise.all(
    delays.map(
      (delayMs) =>
        new Promise<number>((resolve) => {
          const from = systemClock.monotonic();
          systemClock.timer(delayMs, () => resolve(Math.min(0, systemClock.monotonic() - from - delayMs)));
          // Keeps the process alive, which the clock's own timers do not.
          setTimeout(() => {}, delayMs + 10);
        }),
    ),
  );
  expect(early.filter((ms) => ms < 0)).toEqual([]);
});

test("monotonic does not go backwards", () => {
  const first = systemClock.monotonic();
  expect(systemClock.monotonic()).toBeGreaterThanOrEqual(first);
});
