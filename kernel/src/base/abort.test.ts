import { describe, expect, test } from "vitest";
import { joinSignals, neverAborted, unlessAborted } from "./abort.ts";

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

describe("two signals joined", () => {
  test.each([0, 1])("are aborted with either, with its reason, until they are disposed", (which) => {
    const both = [new AbortController(), new AbortController()] as const;
    const joined = joinSignals(both[0].signal, both[1].signal);
    const ended = joinSignals(both[0].signal, both[1].signal);
    ended[Symbol.dispose]();
    const reason = new Error("enough");
    both[which]?.abort(reason);
    expect(joined.signal.reason).toBe(reason);
    expect(ended.signal.aborted).toBe(false);
  });

  test("race: one that is aborted before aborts them at once", () => {
    const { signal } = joinSignals(AbortSignal.abort(new Error("before")), new AbortController().signal);
    expect(signal.reason).toEqual(new Error("before"));
  });

  test("one that is never aborted leaves the other as it is", () => {
    const { signal } = new AbortController();
    expect(joinSignals(signal, neverAborted).signal).toBe(signal);
    expect(joinSignals(neverAborted, signal).signal).toBe(signal);
  });
});
