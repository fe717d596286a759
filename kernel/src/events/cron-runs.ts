import { Cron } from "croner";
import { longestChangeMs, type WallClock } from "./wall-clock.ts";

const hoursOfADay = 24;
const dayMs = 24 * 3_600_000;

/** When a schedule runs. All times are instants in milliseconds. */
export class Runs {
  readonly #next: (after: number) => number | null;

  constructor(next: (after: number) => number | null) {
    this.#next = next;
  }

  /** Returns the first run later than `after`; null where there is none. */
  next(after: number): number | null {
    return this.#next(after);
  }

  /** Returns the next `count` runs later than `after`; fewer where there are no more. */
  after(after: number, count: number): number[] {
    return this.#between(after, Infinity, count);
  }

  /** Returns the newest `count` runs that are later than `after` and not later than `through`, oldest first. */
  newest(after: number, through: number, count: number): number[] {
    if (count <= 0) return [];
    // From the end, in longer and longer spans: `after` may be long ago, and the schedule may run every second.
    let runs: number[] = [];
    let from = through;
    for (let spanMs = 1000; from > after && runs.length < count; spanMs *= 2) {
      const end = from;
      from = Math.max(after, end - spanMs);
      runs = [...this.#between(from, end, Infinity), ...runs];
    }
    return runs.slice(-count);
  }

  #between(after: number, through: number, count: number): number[] {
    const runs: number[] = [];
    for (let run = this.next(after); run !== null && run <= through && runs.length < count;) {
      runs.push(run);
      run = this.next(run);
    }
    return runs;
  }
}

/**
 * Returns the runs of a cron expression by a wall clock. croner says which wall times the expression names, as times in
 * UTC, where no clock is ever changed; what becomes of them when the clock is changed is decided here. Throws where the
 * expression is not cron.
 */
export function runsOf(expression: string, clock: WallClock): Runs {
  const named = new Cron(expression, { timezone: "UTC", paused: true });
  const nextNamed = (wallTime: number): number | null => named.nextRun(new Date(wallTime))?.getTime() ?? null;
  return new Runs(
    isBoundToHours(expression)
      ? (after) => nextOfHours(nextNamed, clock, after)
      : (after) => nextOfAnyHour(nextNamed, clock, after),
  );
}

/** Whether the expression leaves out an hour of the day, however it is written: `*`, `*` + `/1` and `0-23` leave out none. */
function isBoundToHours(expression: string): boolean {
  if (expression.startsWith("@")) return expression.toLowerCase() !== "@hourly";
  const hours = expression.split(/\s+/).at(-4) ?? "*";
  const ofADay = new Cron(`0 0 ${hours} * * *`, { timezone: "UTC", paused: true });
  const runs = ofADay.nextRuns(hoursOfADay, new Date(-1));
  return runs.length < hoursOfADay || (runs.at(-1)?.getTime() ?? dayMs) >= dayMs;
}

type NextNamed = (wallTime: number) => number | null;

/** A run for each named wall time: when the clock first shows it or a later one. Those of one instant are one run. */
function nextOfHours(nextNamed: NextNamed, clock: WallClock, after: number): number | null {
  const wallTime = nextNamed(clock.latestWallTimeAt(after));
  return wallTime === null ? null : clock.firstInstantAt(wallTime);
}

/** A run whenever the clock shows a named wall time: none in a skipped hour, and again in a repeated one. */
function nextOfAnyHour(nextNamed: NextNamed, clock: WallClock, after: number): number | null {
  // The clock has this offset from `start` to its next change; named wall times count from `wallTime`, itself left out.
  let start = after;
  let offset = clock.offsetAt(start);
  let wallTime = start + offset;
  for (;;) {
    const named = nextNamed(wallTime);
    if (named === null) return null;
    const run = named - offset;
    const end = start + longestChangeMs;
    const change = clock.nextChange(start, Math.min(run, end));
    if (change === null && run <= end) return run;
    if (change === null) {
      // Only a clock that is put back within this time shows again what it showed before `start`. There is no run on the
      // way to the next named wall time, so the search goes on shortly before that.
      start = Math.max(end, run - 2 * longestChangeMs);
      offset = clock.offsetAt(start);
      wallTime = start + offset;
    } else {
      // The wall time of the change itself may be a named one.
      start = change;
      offset = clock.offsetAt(start);
      wallTime = start + offset - 1;
    }
  }
}
