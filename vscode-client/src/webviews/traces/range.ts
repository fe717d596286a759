/** What the two inputs of a range have, as `datetime-local` says it in the person's own zone; empty: open. */
export interface Range {
  readonly from: string;
  readonly to: string;
}

/** What of the traces is asked for, in UTC, both inclusive. */
export interface Span {
  readonly since?: string;
  readonly until?: string;
}

export interface RangeProblem {
  readonly field: keyof Range;
  readonly problem: string;
}

/** Characters of a time that the kernel reads: a year has four digits. */
const timeCharacters = 24;
const secondMs = 1_000;
const minuteMs = 60 * secondMs;

/** `to` is all of its minute, or of its second where it names one. `nowMs`: nothing was traced after it. */
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

/** In milliseconds; undefined: open; null: no time, or one of a year that nobody writes. */
function instantOf(local: string): number | null | undefined {
  if (local === "") return undefined;
  const atMs = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(local) ? Date.parse(local) : Number.NaN;
  if (Number.isNaN(atMs)) return null;
  return new Date(atMs).toISOString().length === timeCharacters ? atMs : null;
}

/** How long the time is that was named. */
function lengthOf(local: string): number {
  const [, seconds, fraction] = /T\d\d:\d\d(:\d\d)?(\.\d+)?$/.exec(local) ?? [];
  if (fraction !== undefined) return 1;
  return seconds === undefined ? minuteMs : secondMs;
}

/** As `datetime-local` writes it: "2026-11-21T20:55" in the person's own zone. */
export function localMinute(atMs: number): string {
  const at = new Date(atMs);
  const two = (value: number): string => String(value).padStart(2, "0");
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${date}T${two(at.getHours())}:${two(at.getMinutes())}`;
}
