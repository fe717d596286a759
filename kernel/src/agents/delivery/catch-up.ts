import type { ScheduleTiming } from "../ports.ts";

/** A run that is handled within this time is on time. */
export const graceMs = 60_000;
/** Maximum number of waiting runs of a schedule whose runs queue; further runs are skipped. */
export const maxRunsWaiting = 100;

/**
 * Returns which of the due runs (oldest first) fire now; the others are skipped.
 * skip: those that are on time.
 * once: the newest, on behalf of all missed runs, and what else is on time.
 * all: each in order.
 * `waiting`: runs of this schedule that fired and are not handled yet. With overlap "skip", no run fires while one waits, so
 * that a frequent schedule with a slow or suspended handler runs only as often as the handler can. With catch_up "all", runs
 * queue in any case.
 */
export function runsToFire(
  { catchUp, overlap }: Pick<ScheduleTiming, "catchUp" | "overlap">,
  due: readonly number[],
  waiting: number,
  nowMs: number,
): readonly number[] {
  const room = mostWaiting({ catchUp, overlap }) - waiting;
  if (room <= 0) return [];
  if (catchUp === "all") return due.slice(-room);
  const onTime = due.filter((run) => nowMs - run < graceMs);
  const newest = onTime.length > 0 || catchUp === "skip" ? onTime : due.slice(-1);
  return newest.slice(-room);
}

/** Returns how many runs of a schedule may wait at a time. */
export function mostWaiting({ catchUp, overlap }: Pick<ScheduleTiming, "catchUp" | "overlap">): number {
  return catchUp === "all" || overlap === "queue" ? maxRunsWaiting : 1;
}
