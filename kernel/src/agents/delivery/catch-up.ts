import type { ScheduleTiming } from "../ports.ts";

/** A run that is handled within this time is on time. */
export const graceMs = 60_000;
/** Maximum number of waiting runs of a schedule with `catch_up: all`; further missed runs are skipped. */
export const maxRunsWaiting = 100;

/**
 * Returns which of the due runs (oldest first) fire now; the others are skipped.
 * skip: the newest, if it is on time.
 * once: the newest, on behalf of all missed runs.
 * all: each in order, at most the newest.
 * `waiting`: runs of this schedule that fired and are not handled yet. With skip and once, no run fires while one
 * waits, so that a frequent schedule with a slow or suspended handler runs only as often as the handler can.
 */
export function runsToFire(
  catchUp: ScheduleTiming["catchUp"],
  due: readonly number[],
  waiting: number,
  nowMs: number,
): readonly number[] {
  const room = (catchUp === "all" ? maxRunsWaiting : 1) - waiting;
  if (room <= 0) return [];
  const newest = due.slice(-room);
  return catchUp === "skip" ? newest.filter((run) => nowMs - run < graceMs) : newest;
}
