import type { ScheduleTiming } from "../ports.ts";

/** A run that is told of less than this after its time is on time: nobody was away for it. */
export const graceMs = 60_000;
/** So many runs of a schedule with `catch_up: all` wait at most; what was missed beyond them is left out. */
export const maxRunsWaiting = 100;

/**
 * Which of the runs that are due (oldest first, the newest being the last) are told of now, the rest never.
 *
 * skip: the newest, where it is on time. once: the newest, which stands for all. all: each, in order; of too many
 * the newest. `waiting`: runs of this schedule that were told of and are not dealt with. With skip and once none joins
 * them, so that a quick schedule and a slow handler, or one that is suspended, meet as often as the handler can.
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
