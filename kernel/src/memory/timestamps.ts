import { isoTime } from "../base/clock.ts";
import { invalidParams } from "../base/errors.ts";

const form =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:[0-9]{2}))?$/;

/**
 * Parses an ISO 8601 time to milliseconds since 1970: a day (its beginning in UTC), or a time with "Z" or an
 * offset. Years 1 to 9999. Throws InvalidParams.
 */
export function parseTimestamp(text: string): number {
  const day = form.exec(text)?.[1];
  const epochMs = day === undefined || !isDay(day) ? Number.NaN : Date.parse(text);
  if (!(epochMs >= firstMs && epochMs <= lastMs)) {
    throw invalidParams(
      `"${text.slice(0, 64)}" is not a time. Use a form such as 2026-11-20T12:00:00Z or 2026-11-20T13:00:00+01:00, in the years 1 to 9999.`,
    );
  }
  return epochMs;
}

const firstMs = Date.parse("0001-01-01T00:00:00Z");
const lastMs = Date.parse("9999-12-31T23:59:59.999Z");

/** Otherwise February 30 would count as a day of March. */
function isDay(day: string): boolean {
  const epochMs = Date.parse(day);
  return !Number.isNaN(epochMs) && isoTime(epochMs).startsWith(day);
}
