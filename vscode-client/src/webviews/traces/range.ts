/** The contents of the two inputs of a range, as `datetime-local` in the local zone; empty means open. */
export interface Range {
  readonly from: string;
  readonly to: string;
}

/** The requested span in UTC, both ends inclusive. */
export interface Span {
  readonly since?: string;
  readonly until?: string;
}

export interface RangeProblem {
  readonly field: keyof Range;
  readonly problem: string;
}

/** The length of a time that the kernel accepts: a year has four digits. */
const timeCharacters = 24;
const secondMs = 1_000;
const minuteMs = 60 * secondMs;

/** `to` includes all of its minute, or of its second if it names one. `nowMs`: no trace is newer. */
export function spanOf({ from, to }: Range, nowMs: number): Span | RangeProblem {
  const since = instantOf(from);
  const until = instantOf(to);
  if (since === null) return { field: "from", problem: "The beginning is not a whole date and time yet." };
  if (until === null) return { field: "to", problem: "The end is not a whole date and time yet." };
  if (since !== undefined && since > nowMs)
    return { field: "from", problem: "The beginning is in the future; nothing is traced there yet." };
  if (since !== undefined && until !== undefined && since > until)
    return { field: "to", problem: "The end is before the beginning." };
  return {
    ...(since === undefined ? {} : { since: new Date(since).toISOString() }),
    ...(until === undefined ? {} : { until: new Date(until + lengthOf(to) - 1).toISOString() }),
  };
}

/** Returns milliseconds; undefined for open; null for an invalid time or an implausible year. */
function instantOf(local: string): number | null | undefined {
  if (local === "") return undefined;
  const atMs = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(local) ? Date.parse(local) : Number.NaN;
  if (Number.isNaN(atMs)) return null;
  return new Date(atMs).toISOString().length === timeCharacters ? atMs : null;
}

/** Returns the precision of the time, in milliseconds. */
function lengthOf(local: string): number {
  const [, seconds, fraction] = /T\d\d:\d\d(:\d\d)?(\.\d+)?$/.exec(local) ?? [];
  if (fraction !== undefined) return 1;
  return seconds === undefined ? minuteMs : secondMs;
}

/** Formats a time for `datetime-local`: "2026-11-21T20:55" in the local zone. */
export function localMinute(atMs: number): string {
  const at = new Date(atMs);
  const two = (value: number): string => String(value).padStart(2, "0");
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${date}T${two(at.getHours())}:${two(at.getMinutes())}`;
}
