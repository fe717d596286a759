import { invalidParams } from "../../base/errors.ts";
import { momentMs } from "../../base/moments.ts";
import type { TemporalFilter } from "../../memory-contract/queries.ts";
import { EventFields } from "./event-fields.ts";
import type { Sql, SqlValue } from "./port.ts";
import { checkedPath } from "../../memory-contract/conditions.ts";
import type { SqlCondition } from "./where.ts";
import { searchedWords } from "./words.ts";

/** Maximum characters of a text to search for; a longer one is refused before its words are read. */
const maxMatchLength = 16 * 1024 * 1024;

/** A parsed filter: the conditions for DuckDB, and the words for the full text. */
export interface EventFilter {
  readonly condition: SqlCondition;
  /** False if the condition matches every row. */
  readonly isConditional: boolean;
  /** Null if no text is searched for; nothing matches if it `hasNoWords`. */
  readonly text: { readonly match: string; readonly field?: string; readonly hasNoWords: boolean } | null;
}

/** Parses a filter. Throws InvalidParams that names what would be valid. */
export async function eventFilter(sql: Sql, filter: TemporalFilter, nowMs: number): Promise<EventFilter> {
  const parts: SqlCondition[] = [];
  const add = (part: string, ...params: SqlValue[]): void => void parts.push({ sql: part, params });
  if (filter.variant !== undefined) add("variant = ?", filter.variant);
  if (filter.since !== undefined) add("timestamp_ms >= ?", checkedMoment("since", filter.since, nowMs));
  if (filter.until !== undefined) add("timestamp_ms < ?", checkedMoment("until", filter.until, nowMs));
  if (filter.where !== undefined && filter.where.length > 0) {
    parts.push(...(await EventFields.load(sql)).where(filter.where));
  }
  return {
    condition: {
      sql: parts.length === 0 ? "true" : parts.map((part) => `(${part.sql})`).join(" AND "),
      params: parts.flatMap(({ params }) => params),
    },
    isConditional: parts.length > 0,
    text: filter.text === undefined ? null : checkedText(filter.text),
  };
}

function checkedMoment(name: string, text: string, nowMs: number): number {
  const moment = typeof text === "string" ? momentMs(text, nowMs) : null;
  if (moment === null) {
    throw invalidParams(
      `${name} "${String(text).slice(0, 64)}" is not a time. Write an age (90s, 30m, 12h, 7d, 2w) or ISO 8601 (2026-11-20T10:00:00Z).`,
    );
  }
  return moment;
}

function checkedText({ field, match }: NonNullable<TemporalFilter["text"]>): EventFilter["text"] {
  if (typeof match !== "string" || match.length > maxMatchLength) {
    throw invalidParams(`text.match must be a text of at most ${maxMatchLength} characters.`);
  }
  const hasNoWords = searchedWords(match).length === 0;
  return field === undefined
    ? { match, hasNoWords }
    : { match, hasNoWords, field: checkedPath(field).join(".") };
}
