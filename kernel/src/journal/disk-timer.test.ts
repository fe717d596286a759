import { expect, test } from "vitest";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { DiskTimer } from "./disk-timer.ts";
import { TestJournal } from "./testing/journals.ts";

test("one timer brings every log to the disk, two at a time, and each once", async () => {
  const clock = new ManualClock();
  const disk = new DiskTimer(clock);
  let running = 0;
  let most = 0;
  const done: number[] = [];
  const logs = [1, 2, 3, 4, 5].map((n) => ({
    async bringToDisk(): Promise<void> {
      most = Math.max(most, (running += 1));
      await Promise.resolve();
      running -= 1;
      done.push(n);
    },
  }));
  for (const log of [...logs, ...logs]) disk.add(log);
  expect(clock.pendingTimers).toBe(1);
  clock.advance(49);
  expect(done).toEqual([]);
  await clock.advanceAsync(1);
  expect(done.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5]);
  expect([most, clock.pendingTimers]).toEqual([2, 0]);
});

test("a log that was synchronized meanwhile or closed is skipped, and no timer remains", () => {
  const clock = new ManualClock();
  const disk = new DiskTimer(clock);
  const log = { bringToDisk: () => Promise.reject(new Error("not asked")) };
  disk.add(log);
  disk.remove(log);
  expect(clock.pendingTimers).toBe(0);
});

test("a log that is written to while others are synchronized gets its own 50 ms", async () => {
  const clock = new ManualClock();
  const disk = new DiskTimer(clock);
  const asked: number[] = [];
  const late = { bringToDisk: async () => void asked.push(clock.monotonic()) };
  disk.add({ bringToDisk: async () => disk.add(late) });
  await clock.advanceAsync(120);
  expect(asked).toEqual([100]);
});

test("journals that share a timer are anchored together", async () => {
  const clock = new ManualClock();
  const disk = new DiskTimer(clock);
  const kept = await Promise.all(
    [1, 2, 3].map(async () => new TestJournal(await temporaryFolder(), { clock, disk })),
  );
  await using opened = new AsyncDisposableStack();
  for (const each of kept) {
    const journal = opened.use(await each.open());
    await journal.append([{ operation: "store", kind: "temporal", id: "a", data: "1" }]);
  }
  expect(clock.pendingTimers).toBe(1);
  clock.advance(50);
  await expect.poll(() => kept.map(({ anchor }) => anchor.seq)).toEqual([1, 1, 1]);
});
