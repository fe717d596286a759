const unitsMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** Parses an age such as "90s", "30m", "12h", "7d" or "2w" to milliseconds; null if `text` is not an age. */
export function ageMs(text: string): number | null {
  const parsed = /^(\d{1,6})\s?([smhdw])$/.exec(text);
  const unit = unitsMs[parsed?.[2] ?? ""];
  return parsed !== null && unit !== undefined ? Number(parsed[1]) * unit : null;
}

const isoForm =
  /^([+-]\d{6}|\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/**
 * Parses an age before now, or a time in ISO 8601, to milliseconds since 1970. Returns null for anything else, days
 * that do not exist included. A time without a zone is UTC; without a time of day it is the beginning of the day.
 */
export function momentMs(text: string, nowMs: number): number | null {
  const age = ageMs(text);
  if (age !== null) return nowMs - age;
  const parsed = isoForm.exec(text);
  if (parsed === null) return null;
  const [, year, month, day, hours = "00", minutes = "00", seconds = "00", fraction = "", zone = "Z"] =
    parsed;
  const offset = /^([+-])(\d{2}):?(\d{2})$/.exec(zone);
  const utc = `${year}-${month}-${day}T${hours}:${minutes}:${seconds}.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
  const atUtcMs = Date.parse(utc);
  // A date that changes when it is parsed and formatted does not exist, for example February 30 or 24:00:01.
  if (Number.isNaN(atUtcMs) || new Date(atUtcMs).toISOString() !== utc) return null;
  if (offset === null) return atUtcMs;
  const [, sign, offsetHours, offsetMinutes] = offset;
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return null;
  const offsetMs = Number(offsetHours) * 3_600_000 + Number(offsetMinutes) * 60_000;
  return sign === "-" ? atUtcMs + offsetMs : atUtcMs - offsetMs;
}
