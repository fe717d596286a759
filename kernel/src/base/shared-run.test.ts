import { expect, test } from "vitest";
import { SharedRun } from "./shared-run.ts";

function counted() {
  const runs: PromiseWithResolvers<number>[] = [];
  const shared = new SharedRun(() => {
    const run = Promise.withResolvers<number>();
    runs.push(run);
    return run.promise;
  });
  return { shared, runs };
}

test("callers during a run share the next one, which begins after it", async () => {
  const { shared, runs } = counted();
  const first = shared.run();
  const later = [shared.run(), shared.run(), shared.run()];
  expect(runs).toHaveLength(1);
  runs[0]?.resolve(1);
  expect(await first).toBe(1);
  await expect.poll(() => runs.length).toBe(2);
  runs[1]?.resolve(2);
  expect(await Promise.all(later)).toEqual([2, 2, 2]);
  const alone = shared.run();
  expect(runs).toHaveLength(3);
  runs[2]?.resolve(3);
  expect(await alone).toBe(3);
});

test("a failed run rejects for everyone who shares it, and the next one begins nevertheless", async () => {
  const { shared, runs } = counted();
  const first = shared.run();
  const second = shared.run();
  runs[0]?.reject(new Error("disk"));
  await expect(first).rejects.toThrow("disk");
  await expect.poll(() => runs.length).toBe(2);
  const third = shared.run();
  runs[1]?.resolve(2);
  expect(await second).toBe(2);
  await expect.poll(() => runs.length).toBe(3);
  runs[2]?.resolve(3);
  expect(await third).toBe(3);
});
