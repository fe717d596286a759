import type { Runs } from "./cron-runs.ts";
import type { WallClock } from "./wall-clock.ts";

/** Hours of the day, in minutes since midnight; the end is not included, and may be before the beginning. */
interface Hours {
  readonly from: number;
  readonly until: number;
}

const minuteMs = 60_000;
const dayMinutes = 24 * 60;
/** More than a clock change can move the beginning of the hours. */
const safetyMinutes = 61;
/** Further ahead than this, the times of day of a schedule only repeat. */
const longestYearMs = 400 * dayMinutes * minuteMs;
/** Number of runs that are examined even if they are years ahead, because a schedule may be rare. */
const fewRuns = 16;
const maxLooked = 4_000;

/** Returns hours written like 08:00-20:00; null if they are not. */
export function parseHours(text: string): Hours | null {
  const found = /^(\d\d):(\d\d)-(\d\d):(\d\d)$/.exec(text);
  if (found === null) return null;
  const [fromHour = 0, fromMinute = 0, untilHour = 0, untilMinute = 0] = found.slice(1).map(Number);
  return { from: fromHour * 60 + fromMinute, until: untilHour * 60 + untilMinute };
}

/** Returns the runs that are within these hours of a clock. */
export function activeRuns(
  runs: Runs,
  { from, until }: Hours,
  clock: WallClock,
): {
  /** The first run after a time, in milliseconds since 1970; null if there is none. */
  next(afterMs: number): number | null;
  after(afterMs: number, count: number): number[];
  isActive(atMs: number): boolean;
} {
  const minuteOf = (atMs: number): number => {
    const minute = Math.floor(clock.wallTimeAt(atMs) / minuteMs) % dayMinutes;
    return (minute + dayMinutes) % dayMinutes;
  };
  const isActive = (atMs: number): boolean => {
    const minute = minuteOf(atMs);
    return from <= until ? minute >= from && minute < until : minute >= from || minute < until;
  };
  const next = (afterMs: number): number | null => {
    let after = afterMs;
    for (let looked = 0; looked < maxLooked; looked++) {
      const run = runs.next(after);
      if (run === null || (looked >= fewRuns && run - afterMs > longestYearMs)) return null;
      if (isActive(run)) return run;
      const untilBegin = (from - minuteOf(run) + dayMinutes) % dayMinutes;
      after = run + Math.max(0, untilBegin - safetyMinutes) * minuteMs;
    }
    return null;
  };
  const after = (afterMs: number, count: number): number[] => {
    const found: number[] = [];
    for (let run = next(afterMs); run !== null && found.length < count; run = next(run)) found.push(run);
    return found;
  };
  return { next, after, isActive };
}
