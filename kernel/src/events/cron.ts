import { Cron } from "croner";
import { messageOf } from "../base/errors.ts";

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
  if (timezone !== undefined && !isTimezone(timezone)) {
    return {
      ok: false,
      part: "timezone",
      message: `There is no time zone "${timezone}"; use an IANA name such as "Europe/Berlin".`,
    };
  }
  let cron: Cron;
  try {
    cron = new Cron(expression.trim(), { timezone: timezone ?? "UTC", paused: true });
    if (cron.nextRun(new Date(nowMs)) === null) {
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
    nextRuns: (now, count) => cron.nextRuns(count, new Date(now)).map((run) => run.toISOString()),
    runsBetween: (after, through, count) => runsBetween(cron, after, through, count),
  };
}

function runsBetween(cron: Cron, afterMs: number, throughMs: number, count: number): number[] {
  const runs: number[] = [];
  for (let run = cron.nextRun(new Date(afterMs)); run !== null; run = cron.nextRun(run)) {
    if (run.getTime() > throughMs) return runs;
    if (runs.length === count) break;
    runs.push(run.getTime());
  }
  // There are more: the newest are found from the other end, however long ago the first was.
  return cron
    .previousRuns(count, new Date(throughMs + 1))
    .map((run) => run.getTime())
    .toReversed();
}

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
