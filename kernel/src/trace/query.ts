import { isoTime } from "../base/clock.ts";
import { invalidParams } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import type { TraceEntry, TraceLevel } from "../base/vocabulary/trace.ts";

export interface TraceQuery {
  readonly agent?: string;
  /** This level and those above it. */
  readonly level?: TraceLevel;
  /** ISO 8601, or a duration before now: "90s", "15m", "12h", "7d". */
  readonly since?: string;
  readonly until?: string;
  /** Occurs in the message, whatever its case. */
  readonly text?: string;
  readonly limit?: number;
}

export const defaultQueryLimit = 100;
export const maxQueryLimit = 10_000;

const levels: readonly TraceLevel[] = ["debug", "info", "warn", "error"];
const unitsMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** 0 for debug to 3 for error. */
export function severity(level: TraceLevel): number {
  return levels.indexOf(level);
}

export interface CompiledQuery {
  readonly limit: number;
  /** ISO times, which sort as text; null: open. */
  readonly since: string | null;
  readonly until: string | null;
  /** The entry in this line, if it is one and matches. */
  match(line: string): TraceEntry | null;
}

/** Throws InvalidParams, naming the value, for a time that cannot be read. */
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
      return entry !== null && matches(entry) ? entry : null;
    },
  };
}

function timeOf(name: string, text: string, nowMs: number): string {
  const duration = /^(\d{1,9})(ms|s|m|h|d|w)$/.exec(text);
  const epochMs =
    duration === null ? Date.parse(text) : nowMs - Number(duration[1]) * (unitsMs[duration[2] ?? ""] ?? 0);
  // Before 1970 and after 9999 the written form no longer sorts as text.
  if (Number.isNaN(epochMs) || epochMs >= 253_402_300_800_000) {
    throw invalidParams(
      `"${name}" is "${text.slice(0, 64)}"; give a time such as 2026-11-20T12:00:00Z or a duration such as 7d.`,
    );
  }
  return isoTime(Math.max(0, epochMs));
}

/** Null for a line that a crash left unfinished, and for what was never an entry. */
function parseEntry(line: string): TraceEntry | null {
  try {
    const value: unknown = JSON.parse(line);
    // Only this log writes these files; these fields tell its lines from anything else.
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
