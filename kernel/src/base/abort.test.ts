import { expect, test } from "vitest";
import { neverAborted, unlessAborted } from "./abort.ts";

test("a result that comes before the abort counts", async () => {
  const aborter = new AbortController();
  const work = unlessAborted(Promise.resolve(1), aborter.signal);
  expect(await work).toBe(1);
  aborter.abort(new Error("late"));
  expect(await work).toBe(1);
  expect(await unlessAborted(Promise.resolve(2), neverAborted)).toBe(2);
});

test("race: an abort before the result rejects with its reason, and a failure of the work behind it is no unhandled one", async () => {
  const aborter = new AbortController();
  const work = Promise.withResolvers<number>();
  const waiting = unlessAborted(work.promise, aborter.signal);
  aborter.abort(new Error("no longer wanted"));
  work.reject(new Error("too late"));
  await expect(waiting).rejects.toThrow("no longer wanted");
  await expect(unlessAborted(Promise.resolve(1), aborter.signal)).rejects.toThrow("no longer wanted");
});
