import { isoTime } from "../base/clock.ts";
import { invalidParams } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import { traceLevels, type TraceEntry, type TraceLevel, type TraceQuery } from "../base/vocabulary/trace.ts";

const defaultQueryLimit = 100;
const maxQueryLimit = 10_000;
/** The total size of the entries in one answer. Building a larger answer would block the kernel's event loop. */
export const maxAnswerBytes = 2 * 1024 * 1024;

const unitsMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Returns 0 for debug to 3 for error. */
export function severity(level: TraceLevel): number {
  return traceLevels.indexOf(level);
}

export interface CompiledQuery {
  readonly limit: number;
  /** ISO times, which sort as text; null for no bound. */
  readonly since: string | null;
  readonly until: string | null;
  /** Returns the entry in this line if it matches; "past" if neither it nor any older one is wanted. */
  match(line: string): TraceEntry | "past" | null;
}

/** Throws InvalidParams, naming the value, for a time that cannot be parsed. */
export function compileQuery(query: TraceQuery, nowMs: number): CompiledQuery {
  const since = query.since === undefined ? null : timeOf("since", query.since, nowMs);
  const until = query.until === undefined ? null : timeOf("until", query.until, nowMs);
  const text = query.text?.toLowerCase();
  const minimum = query.level === undefined ? 0 : severity(query.level);
  const matches = (entry: TraceEntry): boolean =>
    (query.agent === undefined || entry.agent === query.agent) &&
    severity(entry.level) >= minimum &&
    (since === null || entry.timestamp >= since) &&
    (until === null || entry.timestamp <= until) &&
    (text === undefined || entry.message.toLowerCase().includes(text));
  return {
    limit: Math.max(0, Math.min(query.limit ?? defaultQueryLimit, maxQueryLimit)),
    since,
    until,
    match(line) {
      const entry = parseEntry(line);
      if (entry === null) return null;
      if (query.after !== undefined && entry.span_id <= query.after) return "past";
      return matches(entry) ? entry : null;
    },
  };
}

function timeOf(name: string, text: string, nowMs: number): string {
  const duration = /^(\d{1,9})(ms|s|m|h|d|w)$/.exec(text);
  const epochMs =
    duration === null ? Date.parse(text) : nowMs - Number(duration[1]) * (unitsMs[duration[2] ?? ""] ?? 0);
  // Before 1970 and after 9999, the written form no longer sorts as text.
  if (Number.isNaN(epochMs) || epochMs >= 253_402_300_800_000) {
    throw invalidParams(
      `"${name}" is "${text.slice(0, 64)}"; give a time such as 2026-11-20T12:00:00Z or a duration such as 7d.`,
    );
  }
  return isoTime(Math.max(0, epochMs));
}

/** Returns null for a line that a crash left unfinished, and for one that is not an entry. */
function parseEntry(line: string): TraceEntry | null {
  try {
    const value: unknown = JSON.parse(line);
    // Only this log writes these files, so these fields suffice to recognize its lines.
    return isJsonObject(value) &&
      typeof value["message"] === "string" &&
      typeof value["timestamp"] === "string"
      ? (value as unknown as TraceEntry)
      : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
