import { expect, it } from "vitest";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { firstPauseMs } from "./breaker.ts";
import { Conduct, endsCountMs } from "./conduct.ts";

it("three failures in a row suspend; a success in between begins anew", () => {
  const conduct = new Conduct(new ManualClock());
  expect([conduct.failed("a"), conduct.failed("b")]).toEqual([null, null]);
  conduct.succeeded();
  expect([conduct.failed("c"), conduct.failed("d"), conduct.failed("e")]).toEqual([
    null,
    null,
    "Suspended after 3 failures in a row; the last: e",
  ]);
  expect(conduct.pauseMs).toBe(firstPauseMs);
});

it("after the pause one failure suspends again, for longer; a success makes up for it", () => {
  const conduct = new Conduct(new ManualClock());
  for (const reason of ["a", "b", "c"]) conduct.failed(reason);
  expect(conduct.triesAgain()).toBe(true);
  expect(conduct.triesAgain()).toBe(false);
  expect(conduct.failed("d")).toMatch(/^Suspended after 4/);
  expect(conduct.pauseMs).toBe(2 * firstPauseMs);
  conduct.triesAgain();
  conduct.succeeded();
  expect(conduct.failed("e")).toBeNull();
});

it("three ends within a minute suspend, whatever was handled in between; a sandbox that went away does not count", () => {
  const clock = new ManualClock();
  const conduct = new Conduct(clock);
  const end = (isSandboxFault = false): string | null => {
    const { suspension } = conduct.ended("x", isSandboxFault);
    conduct.succeeded();
    return suspension;
  };
  expect([end(), end(true), end(true), end()]).toEqual([null, null, null, null]);
  expect(end()).toBe("Suspended after its program ended 3 times within a minute; the last time: x");
  conduct.isForgiven();
  expect([end(), end()]).toEqual([null, null]);
  clock.advance(endsCountMs);
  expect(end()).toBeNull();
});

it("ends in a row are followed by longer and longer pauses before the next start", () => {
  const conduct = new Conduct(new ManualClock());
  const [first, second] = [conduct.ended("x", true), conduct.ended("x", true)];
  expect(second.restartAfterMs).toBeGreaterThan(first.restartAfterMs);
  conduct.succeeded();
  expect(conduct.ended("x", true).restartAfterMs).toBe(first.restartAfterMs);
});
