import { line } from "./text.ts";

/** Formats numbers and times for people, in English like the rest of the views. */
const locale = "en";

const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
const weekday = new Intl.DateTimeFormat(locale, {
  weekday: "short",
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});

export const count = (value: number): string => whole.format(value);

/** "1 event", "2 events" */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

const steps = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** Formats "2 minutes ago", "yesterday", "just now"; returns the text itself if it is not a time. */
export function ago(iso: string, nowMs: number): string {
  const atMs = Date.parse(iso);
  if (Number.isNaN(atMs)) return line(iso, 40);
  const seconds = Math.round((atMs - nowMs) / 1000);
  for (const [unit, length] of steps) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  }
  return "just now";
}

/** Formats a UTC day, "2026-11-21", as "Sat, Nov 21". */
export function dayName(day: string): string {
  const at = new Date(`${day}T00:00:00Z`);
  return Number.isNaN(at.getTime()) ? line(day, 40) : weekday.format(at);
}
