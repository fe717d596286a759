import { expect, it } from "vitest";
import {
  closedBreaker,
  failed,
  failuresToOpen,
  firstPauseMs,
  halfOpen,
  longestPauseMs,
  pauseMs,
  succeeded,
} from "./breaker.ts";

it("opens at the third failure in a row, not before", () => {
  let breaker = closedBreaker;
  for (let count = 1; count < failuresToOpen; count++) {
    breaker = failed(breaker);
    expect(breaker.state).toBe("closed");
  }
  expect(failed(breaker).state).toBe("open");
});

it("a success in between resets the count", () => {
  const twice = failed(failed(closedBreaker));
  expect(failed(failed(succeeded(twice))).state).toBe("closed");
});

it("half-open: one failure opens it again for twice as long, one success closes it", () => {
  const open = failed(failed(failed(closedBreaker)));
  expect(pauseMs(open)).toBe(firstPauseMs);
  const again = failed(halfOpen(open));
  expect(again.state).toBe("open");
  expect(pauseMs(again)).toBe(2 * firstPauseMs);
  expect(succeeded(halfOpen(again))).toEqual(closedBreaker);
});

it("the pause is bounded however often it opened", () => {
  let breaker = failed(failed(failed(closedBreaker)));
  for (let round = 0; round < 40; round++) breaker = failed(halfOpen(breaker));
  expect(pauseMs(breaker)).toBe(longestPauseMs);
});
