import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { JoinedSignals, neverAborted, unlessAborted, unlessOver } from "./abort.ts";

test("a result before the abort counts", async () => {
  const aborter = new AbortController();
  const work = unlessAborted(Promise.resolve(1), aborter.signal);
  expect(await work).toBe(1);
  aborter.abort(new Error("late"));
  expect(await work).toBe(1);
  expect(await unlessAborted(Promise.resolve(2), neverAborted)).toBe(2);
});

test("race: an abort before the result rejects with its reason, and a later failure of the work is not unhandled", async () => {
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
    const joined = new JoinedSignals(both[0].signal, both[1].signal);
    const ended = new JoinedSignals(both[0].signal, both[1].signal);
    const [signal, ofEnded] = [joined.signal, ended.signal];
    ended[Symbol.dispose]();
    const reason = new Error("enough");
    both[which]?.abort(reason);
    expect(signal.reason).toBe(reason);
    expect(ofEnded.aborted).toBe(false);
  });

  test("are watched only once their signal is read, and not after the end", () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const joined = new JoinedSignals(one.signal, other.signal);
    joined[Symbol.dispose]();
    const { signal } = joined;
    one.abort(new Error("enough"));
    expect(signal.aborted).toBe(false);
    expect(new JoinedSignals(one.signal, other.signal).signal.aborted).toBe(true);
  });

  test("race: an already aborted signal aborts them at once", () => {
    const { signal } = new JoinedSignals(
      AbortSignal.abort(new Error("before")),
      new AbortController().signal,
    );
    expect(signal.reason).toEqual(new Error("before"));
  });

  test("one that is never aborted leaves the other as it is", () => {
    const { signal } = new AbortController();
    expect(new JoinedSignals(signal, neverAborted).signal).toBe(signal);
    expect(new JoinedSignals(neverAborted, signal).signal).toBe(signal);
  });
});

test("unlessOver gives the result, the error, or null once it is over, and leaves nothing in the signal", async () => {
  const over = new AbortController();
  expect(await unlessOver(Promise.resolve(1), over.signal)).toBe(1);
  await expect(unlessOver(Promise.reject(new Error("no")), over.signal)).rejects.toThrow("no");
  expect(getEventListeners(over.signal, "abort")).toEqual([]);
  const late = Promise.withResolvers<number>();
  const waiting = unlessOver(late.promise, over.signal);
  over.abort();
  expect(await waiting).toBeNull();
  late.reject(new Error("too late"));
  expect(await unlessOver(Promise.resolve(1), over.signal)).toBeNull();
});
