import type { EventLanguage } from "./ports.ts";

/** How many of the next runs are shown. */
const shownRuns = 3;
const weekMs = 7 * 86_400_000;

interface ScheduleInWords {
  /** "Every day at 03:00". */
  readonly words: string;
  /** "Sat 03:00", in the schedule's time zone, soonest first. */
  readonly runs: readonly string[];
  /** The same with their dates: "Sat 21 Nov 2026, 03:00". */
  readonly dates: readonly string[];
  readonly timezone: string;
}

/** Explanations that are kept: a document's hints are asked for again at each keystroke. */
const maxKept = 512;
/** So long one is kept at most, and never beyond its first run. */
const keptMs = 60_000;
/** A longer expression is none. */
const maxKeptCharacters = 256;
const kept = new Map<
  string,
  { readonly from: number; readonly until: number; readonly said: ScheduleInWords }
>();

/** A cron expression in words with its next runs; null where it is none, or its time zone is none. */
export async function explainSchedule(
  expression: string,
  timezone: string | undefined,
  events: EventLanguage,
): Promise<ScheduleInWords | null> {
  const now = events.now();
  const key = JSON.stringify([expression, timezone]);
  const known = kept.get(key);
  if (known !== undefined && known.from <= now && now < known.until) return known.said;
  kept.delete(key);
  const explained = await explain(expression, timezone, events, now);
  if (explained === null || key.length > maxKeptCharacters) return explained?.said ?? null;
  if (kept.size >= maxKept) kept.delete(kept.keys().next().value ?? "");
  kept.set(key, { from: now, until: Math.min(now + keptMs, explained.firstRun), said: explained.said });
  return explained.said;
}

async function explain(
  expression: string,
  timezone: string | undefined,
  events: EventLanguage,
  now: number,
): Promise<{ readonly said: ScheduleInWords; readonly firstRun: number } | null> {
  const next = events.nextRuns(expression, timezone, now, shownRuns);
  const words = next.length === 0 ? null : await events.scheduleInWords(expression);
  if (words === null) return null;
  const zone = timezone ?? "UTC";
  const runs = next.map((run) => Date.parse(run));
  const seconds = runs.some((run) => run % 60_000 !== 0) ? ({ second: "2-digit" } as const) : {};
  const time = { hour: "2-digit", minute: "2-digit", ...seconds, hourCycle: "h23", timeZone: zone } as const;
  const soon = new Intl.DateTimeFormat("en-GB", { ...time, weekday: "short" });
  const far = new Intl.DateTimeFormat("en-GB", { ...time, day: "numeric", month: "short", year: "numeric" });
  const dated = new Intl.DateTimeFormat("en-GB", {
    ...time,
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
  });
  const said = {
    words,
    // A weekday alone says which day it is for as long as there is one of each.
    runs: runs.map((run) => (run - now < weekMs ? soon : far).format(run).replace(",", "")),
    dates: runs.map((run) => dated.format(run)),
    timezone: zone,
  };
  return { said, firstRun: runs[0] ?? now };
}
