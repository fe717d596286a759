import { ageMs } from "../base/moments.ts";
import { UsageError } from "./command.ts";

/** Parses "90s", "10m", "1h", "7d" to milliseconds. */
export function durationMs(text: string): number {
  const parsed = ageMs(text.trim());
  if (parsed === null)
    throw new UsageError(`"${text}" is not a duration. Write 90s, 10m or 1h, for example.`);
  return parsed;
}

const weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/**
 * Parses "90s", "10m", "1h", "7d" as a time before now; "today", "yesterday" or "monday" as the beginning of that day
 * in the local time zone; or a time in ISO 8601. Returns a time in UTC.
 */
export function sinceTime(text: string, nowMs: number): string {
  const ago = ageMs(text.trim());
  if (ago !== null) return new Date(nowMs - ago).toISOString();
  const begun = dayBegun(text.trim().toLowerCase(), nowMs);
  if (begun !== null) return begun.toISOString();
  const absolute = Date.parse(text);
  if (Number.isNaN(absolute))
    throw new UsageError(
      `"${text}" is not a time. Write 30m, 1h, 7d, yesterday, monday or 2026-11-20T10:00:00Z.`,
    );
  return new Date(absolute).toISOString();
}

/** On a Monday, "monday" is today. */
function dayBegun(name: string, nowMs: number): Date | null {
  const now = new Date(nowMs);
  const weekday = weekdays.indexOf(name);
  const daysAgo =
    name === "today"
      ? 0
      : name === "yesterday"
        ? 1
        : weekday === -1
          ? null
          : (now.getDay() - weekday + 7) % 7;
  // By the calendar, because not every day has 24 hours.
  return daysAgo === null ? null : new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo);
}
