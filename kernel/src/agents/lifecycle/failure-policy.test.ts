import { expect, it } from "vitest";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import { firstPauseMs } from "./breaker.ts";
import { FailurePolicy, endsCountMs } from "./failure-policy.ts";

it("three failures in a row suspend; a success in between resets the count", () => {
  const failurePolicy = new FailurePolicy(new ManualClock());
  expect([failurePolicy.failed("a"), failurePolicy.failed("b")]).toEqual([null, null]);
  failurePolicy.succeeded();
  expect([failurePolicy.failed("c"), failurePolicy.failed("d"), failurePolicy.failed("e")]).toEqual([
    null,
    null,
    "Suspended after 3 failures in a row; the last: e",
  ]);
  expect(failurePolicy.pauseMs).toBe(firstPauseMs);
});

it("after the pause one failure suspends again, for longer; a success resets this", () => {
  const failurePolicy = new FailurePolicy(new ManualClock());
  for (const reason of ["a", "b", "c"]) failurePolicy.failed(reason);
  expect(failurePolicy.triesAgain()).toBe(true);
  expect(failurePolicy.triesAgain()).toBe(false);
  expect(failurePolicy.failed("d")).toMatch(/^Suspended after 4/);
  expect(failurePolicy.pauseMs).toBe(2 * firstPauseMs);
  failurePolicy.triesAgain();
  failurePolicy.succeeded();
  expect(failurePolicy.failed("e")).toBeNull();
});

it("three ends within a minute suspend, whatever was handled in between; a sandbox that went away does not count", () => {
  const clock = new ManualClock();
  const failurePolicy = new FailurePolicy(clock);
  const end = (isSandboxFault = false): string | null => {
    const { suspension } = failurePolicy.ended("x", isSandboxFault);
    failurePolicy.succeeded();
    return suspension;
  };
  expect([end(), end(true), end(true), end()]).toEqual([null, null, null, null]);
  expect(end()).toBe("Suspended after its program ended 3 times within a minute; the last time: x");
  failurePolicy.isForgiven();
  expect([end(), end()]).toEqual([null, null]);
  clock.advance(endsCountMs);
  expect(end()).toBeNull();
});

it("ends in a row are followed by longer and longer pauses before the next start", () => {
  const failurePolicy = new FailurePolicy(new ManualClock());
  const [first, second] = [failurePolicy.ended("x", true), failurePolicy.ended("x", true)];
  expect(second.restartAfterMs).toBeGreaterThan(first.restartAfterMs);
  failurePolicy.succeeded();
  expect(failurePolicy.ended("x", true).restartAfterMs).toBe(first.restartAfterMs);
});
