import type { EventLanguage } from "./ports.ts";

/** Number of next runs shown. */
const shownRuns = 3;
const weekMs = 7 * 86_400_000;

interface ScheduleInWords {
  /** "Every day at 03:00". */
  readonly words: string;
  /** "Sat 03:00", in the schedule's time zone, soonest first. */
  readonly runs: readonly string[];
  /** The runs with their dates: "Sat 21 Nov 2026, 03:00". */
  readonly dates: readonly string[];
  readonly timezone: string;
}

/** Maximum number of cached explanations: an editor requests a document's hints at each keystroke. */
const maxKept = 512;
/** Maximum time that an explanation is cached. It also expires at its first run. */
const keptMs = 60_000;
/** Maximum length of an expression. */
const maxKeptCharacters = 256;
const kept = new Map<
  string,
  { readonly from: number; readonly until: number; readonly said: ScheduleInWords }
>();

/** Returns a description of a cron expression and its next runs; null if the expression or its time zone is invalid. */
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
    // A weekday alone is unambiguous as long as each occurs once.
    runs: runs.map((run) => (run - now < weekMs ? soon : far).format(run).replace(",", "")),
    dates: runs.map((run) => dated.format(run)),
    timezone: zone,
  };
  return { said, firstRun: runs[0] ?? now };
}
