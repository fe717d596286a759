import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CoalescedEvent, coalesceMs } from "./coalesced.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function start() {
  const event = new CoalescedEvent();
  let heard = 0;
  event.event(() => (heard += 1));
  return { event, heard: () => heard };
}

it("the first of many changes is reported at once, and the others once", () => {
  const { event, heard } = start();
  for (let change = 0; change < 100; change++) event.fire();
  expect(heard()).toBe(1);
  vi.advanceTimersByTime(coalesceMs);
  expect(heard()).toBe(2);
  vi.advanceTimersByTime(10 * coalesceMs);
  expect(heard()).toBe(2);
  expect(vi.getTimerCount()).toBe(0);
});

it("endless changes are reported at most once in each interval", () => {
  const { event, heard } = start();
  for (let step = 0; step < 100; step++) {
    event.fire();
    vi.advanceTimersByTime(coalesceMs / 10);
  }
  expect(heard()).toBeLessThanOrEqual(11);
});

it("nothing is reported, and no timer runs, after disposal", () => {
  const { event, heard } = start();
  event.fire();
  event.fire();
  event.dispose();
  vi.advanceTimersByTime(coalesceMs);
  expect(heard()).toBe(1);
});
