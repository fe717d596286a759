import { Cron } from "croner";
import { longestChangeMs, type WallClock } from "./wall-clock.ts";

const hoursOfADay = 24;
const dayMs = 24 * 3_600_000;

interface KnownRun {
  readonly after: number;
  /** The first run after `after`; null if there is none. */
  readonly run: number | null;
}

/** The runs of a schedule. All times are instants in milliseconds. */
export class Runs {
  readonly #next: (after: number) => number | null;
  /** The latest answer. It holds for every instant up to that run, and clients ask repeatedly. */
  #known: KnownRun | null = null;

  constructor(next: (after: number) => number | null) {
    this.#next = next;
  }

  /** Returns the first run after `after`; null if there is none. */
  next(after: number): number | null {
    const known = this.#known;
    if (known !== null && after >= known.after && (known.run === null || after < known.run)) return known.run;
    const run = this.#next(after);
    this.#known = { after, run };
    return run;
  }

  /** Returns the next `count` runs after `after`; fewer if there are no more. */
  after(after: number, count: number): number[] {
    return this.#between(after, Infinity, count);
  }

  /** Returns the newest `count` runs after `after` and not after `through`, oldest first. */
  newest(after: number, through: number, count: number): number[] {
    if (count <= 0) return [];
    // From the end, in spans of doubling length: `after` may be long ago, and the schedule may run every second.
    let runs: number[] = [];
    let from = through;
    for (let spanMs = 1000; from > after && runs.length < count; spanMs *= 2) {
      const end = from;
      from = Math.max(after, end - spanMs);
      runs = [...this.#newestIn(from, end, count - runs.length), ...runs];
    }
    return runs;
  }

  /**
   * Returns the newest `count` runs in a span. Computes at most `count` + 1 runs for each halving of the span: a span
   * without runs at its end may contain a run for every second of a month.
   */
  #newestIn(after: number, through: number, count: number): number[] {
    const oldest = this.#between(after, through, count + 1);
    const last = oldest.at(-1);
    if (last === undefined || oldest.length <= count) return oldest;
    const middle = Math.floor((last + through) / 2);
    const newer = this.#newestIn(middle, through, count);
    const older = newer.length < count ? this.#newestIn(last, middle, count - newer.length) : [];
    return [...oldest, ...older, ...newer].slice(-count);
  }

  #between(after: number, through: number, count: number): number[] {
    const runs: number[] = [];
    for (let last = after; runs.length < count;) {
      const run = this.next(last);
      if (run === null || run > through) break;
      runs.push(run);
      last = run;
    }
    return runs;
  }
}

/**
 * Returns the runs of a cron expression on a wall clock. croner finds the wall times that the expression names, as
 * times in UTC, where clocks never change; how changes of the clock affect them is decided here. Throws if the
 * expression is not valid cron.
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

/** Returns true if the expression excludes any hour of the day: `*`, `*` + `/1` and `0-23` exclude none. */
function isBoundToHours(expression: string): boolean {
  if (expression.startsWith("@")) return expression.toLowerCase() !== "@hourly";
  const hours = expression.split(/\s+/).at(-4) ?? "*";
  const ofADay = new Cron(`0 0 ${hours} * * *`, { timezone: "UTC", paused: true });
  const runs = ofADay.nextRuns(hoursOfADay, new Date(-1));
  return runs.length < hoursOfADay || (runs.at(-1)?.getTime() ?? dayMs) >= dayMs;
}

type NextNamed = (wallTime: number) => number | null;

/** Runs when the clock first shows a named wall time or a later one. Several wall times at one instant are one run. */
function nextOfHours(nextNamed: NextNamed, clock: WallClock, after: number): number | null {
  const wallTime = nextNamed(clock.latestWallTimeAt(after));
  return wallTime === null ? null : clock.firstInstantAt(wallTime);
}

/** A run whenever the clock shows a named wall time: none in a skipped hour, and again in a repeated one. */
function nextOfAnyHour(nextNamed: NextNamed, clock: WallClock, after: number): number | null {
  // The clock has this offset from `start` to its next change; only wall times after `wallTime` count.
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
      // Only a clock that is set back within this time shows wall times from before `start` again. There is no run
      // before the next named wall time, so the search continues shortly before that.
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
