import { messageOf } from "../base/errors.ts";
import { type Runs, runsOf } from "./cron-runs.ts";
import { WallClock } from "./wall-clock.ts";

/** Longest cron expression that is read, in characters. */
export const maxCronLength = 256;

export type Schedule =
  | {
      readonly ok: true;
      /** The next times after `nowMs`, UTC, ISO 8601 with milliseconds; fewer than asked for where there are no more. */
      readonly nextRuns: (nowMs: number, count: number) => string[];
      /** The runs later than `afterMs` and not later than `throughMs`, oldest first: the newest `count` of them. */
      readonly runsBetween: (afterMs: number, throughMs: number, count: number) => number[];
    }
  | { readonly ok: false; readonly part: "schedule" | "timezone"; readonly message: string };

const nicknames = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@hourly"];

/**
 * Reads a schedule: five fields (minute hour day month weekday), six with seconds in front, or a nickname
 * such as @daily. `timezone` is an IANA name; UTC where none is given. `nowMs` is only used to refuse an expression
 * that never comes true, such as February the 30th.
 */
export function compileSchedule(expression: string, timezone: string | undefined, nowMs: number): Schedule {
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
        message: `"${expression}" is no schedule; the nicknames are ${nicknames.join(", ")}.`,
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
  return {
    ok: true,
    nextRuns: (now, count) => runs.after(now, count).map((run) => new Date(run).toISOString()),
    runsBetween: (after, through, count) => runs.newest(after, through, count),
  };
}

/** Returns the clock of an IANA time zone; null where there is none of this name. */
function wallClock(timezone: string): WallClock | null {
  try {
    return new WallClock(timezone);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
