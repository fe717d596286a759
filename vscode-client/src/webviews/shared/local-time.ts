import { line } from "./text.ts";

/** Formats a time in the local zone: "2026-11-21 20:55:12.123". */
export function localTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return line(iso, 40);
  const two = (value: number): string => String(value).padStart(2, "0");
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  return `${date} ${time}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

/** Formats a time in the local zone: "20:55" today, "2026-11-21 20:55" on another day. */
export function localClock(iso: string, now = new Date()): string {
  const whole = localTime(iso);
  if (!/^\d{4}-/.test(whole)) return whole;
  return whole.slice(0, 10) === localTime(now.toISOString()).slice(0, 10)
    ? whole.slice(11, 16)
    : whole.slice(0, 16);
}
