import { messageOf } from "../base/errors.ts";
import { activeRuns, parseHours } from "./active-hours.ts";
import { type Runs, runsOf } from "./cron-runs.ts";
import { WallClock } from "./wall-clock.ts";

/** The maximum length of a cron expression, in characters. */
export const maxCronLength = 256;

/**
 * The number of cached schedules; the least recently used is evicted. Compiling one takes up to some milliseconds, and
 * every reading of the documents asks for the same ones.
 */
const maxCompiled = 1024;
const compiled = new Map<string, Schedule>();

type Schedule =
  | {
      readonly ok: true;
      /**
       * Returns the next times after `nowMs` in UTC, ISO 8601 with milliseconds; fewer than `count` if no more exist.
       */
      readonly nextRuns: (nowMs: number, count: number) => string[];
      /** Returns the newest `count` runs after `afterMs` and not after `throughMs`, oldest first. */
      readonly runsBetween: (afterMs: number, throughMs: number, count: number) => number[];
      /** Returns whether a time is within the active hours. */
      readonly isActive: (atMs: number) => boolean;
    }
  | {
      readonly ok: false;
      readonly part: "schedule" | "timezone" | "active_hours";
      readonly message: string;
    };

const nicknames = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@hourly"];

/**
 * Compiles a schedule: five fields (minute hour day month weekday), six with seconds first, or a nickname such as
 * @daily. `timezone` is an IANA name, UTC by default. `activeHours`, such as 08:00-20:00, leaves out all other runs.
 * `nowMs` is only used to reject what never comes true, such as February 30.
 */
export function compileSchedule(
  expression: string,
  timezone: string | undefined,
  nowMs: number,
  activeHours?: string,
): Schedule {
  const key = JSON.stringify([expression, timezone, activeHours]);
  const known = compiled.get(key);
  const schedule = known ?? compile(expression, timezone, nowMs, activeHours);
  compiled.delete(key);
  // Longer expressions are invalid, which takes no time to find out.
  if (key.length <= 2 * maxCronLength) compiled.set(key, schedule);
  const [oldest] = compiled.keys();
  if (compiled.size > maxCompiled && oldest !== undefined) compiled.delete(oldest);
  return schedule;
}

function compile(
  expression: string,
  timezone: string | undefined,
  nowMs: number,
  activeHours: string | undefined,
): Schedule {
  if (expression.length > maxCronLength) {
    return {
      ok: false,
      part: "schedule",
      message: `The schedule has ${expression.length} characters; at most ${maxCronLength} are allowed.`,
    };
  }
  const fields = expression.trim().split(/\s+/);
  if (expression.trim().startsWith("@")) {
    if (!nicknames.includes(expression.trim().toLowerCase())) {
      return {
        ok: false,
        part: "schedule",
        message: `"${expression}" is not a schedule; the nicknames are ${nicknames.join(", ")}.`,
      };
    }
  } else if (fields.length !== 5 && fields.length !== 6) {
    return {
      ok: false,
      part: "schedule",
      message: `The schedule "${expression}" has ${expression.trim() === "" ? 0 : fields.length} fields; cron has five: minute hour day month weekday, as in "0 3 * * *".`,
    };
  }
  const clock = wallClock(timezone ?? "UTC");
  if (clock === null) {
    return {
      ok: false,
      part: "timezone",
      message: `There is no time zone "${timezone}"; use an IANA name such as "Europe/Berlin".`,
    };
  }
  let runs: Runs;
  try {
    runs = runsOf(expression.trim(), clock);
    if (runs.next(nowMs) === null) {
      return { ok: false, part: "schedule", message: `The schedule "${expression}" never comes true.` };
    }
  } catch (error) {
    const reason = messageOf(error).replace(/^Cron(?:Pattern)?: /, "");
    return {
      ok: false,
      part: "schedule",
      message: `The schedule "${expression}" is not a cron expression: ${reason}`,
    };
  }
  const hours = activeHours === undefined ? null : parseHours(activeHours);
  if (hours === null)
    return {
      ok: true,
      nextRuns: (now, count) => runs.after(now, count).map(isoOf),
      runsBetween: (after, through, count) => runs.newest(after, through, count),
      isActive: () => true,
    };
  const active = activeRuns(runs, hours, clock);
  if (active.next(nowMs) === null)
    return {
      ok: false,
      part: "active_hours",
      message: `The schedule "${expression}" never runs between ${activeHours}.`,
    };
  return {
    ok: true,
    nextRuns: (now, count) => active.after(now, count).map(isoOf),
    runsBetween: (after, through, count) =>
      runs.newest(after, through, count).filter((run) => active.isActive(run)),
    isActive: (at) => active.isActive(at),
  };
}

const isoOf = (run: number): string => new Date(run).toISOString();

/** Returns the clock of an IANA time zone; null if there is no such zone. */
function wallClock(timezone: string): WallClock | null {
  try {
    return new WallClock(timezone);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
