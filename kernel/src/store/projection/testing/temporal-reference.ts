import { isoTime } from "../../../base/clock.ts";
import type { JsonValue } from "../../../base/json.ts";
import { momentMs } from "../../../base/moments.ts";
import type {
  TemporalCount,
  TemporalCountQuery,
  TemporalFilter,
  TemporalPage,
  TemporalQuery,
} from "../../../memory-contract/queries.ts";
import { searchedWords } from "../words.ts";
import { type Event, idOf, nowMs } from "./test-memory.ts";
import { matches } from "./where-reference.ts";

/** A simple reference for temporal memory: works on all events, in the order in which they were appended. */
export function plainQuery(events: readonly Event[], query: TemporalQuery): TemporalPage {
  const sign = query.order === "asc" ? 1 : -1;
  const found = filtered(events, query).toSorted(
    (left, right) => sign * (left.timestampMs - right.timestampMs || left.seq - right.seq),
  );
  const { offset = 0, limit = 100 } = query;
  return {
    items: found.slice(offset, offset + limit).map(({ seq, variant, timestampMs, data }) => ({
      id: idOf(seq),
      variant,
      timestamp: isoTime(timestampMs),
      data,
    })),
    total: found.length,
  };
}

export function plainCount(events: readonly Event[], query: TemporalCountQuery): TemporalCount {
  const found = filtered(events, query);
  const { group_by: groupBy } = query;
  if (groupBy === undefined) return { count: found.length };
  const groups = new Map<string, number>();
  for (const { variant, timestampMs } of found) {
    const iso = isoTime(timestampMs);
    const key = {
      variant,
      hour: iso.replace(/:\d\d:\d\d\.\d{3}Z$/, ":00:00.000Z"),
      day: iso.replace(/T.*/, "T00:00:00.000Z"),
    }[groupBy];
    groups.set(key, (groups.get(key) ?? 0) + 1);
  }
  return { count: found.length, groups: Object.fromEntries(groups) };
}

type Numbered = Event & { readonly seq: number };

function filtered(
  events: readonly Event[],
  { variant, since, until, text, where = [] }: TemporalFilter,
): Numbered[] {
  return events
    .map((event, at) => ({ ...event, seq: at + 1 }))
    .filter(
      (event) =>
        (variant === undefined || event.variant === variant) &&
        (since === undefined || event.timestampMs >= (momentMs(since, nowMs) ?? Number.NaN)) &&
        (until === undefined || event.timestampMs < (momentMs(until, nowMs) ?? Number.NaN)) &&
        (text === undefined || hasWords(event.data, text)) &&
        matches(event.data, where),
    );
}

function hasWords(data: JsonValue, { field, match }: NonNullable<TemporalFilter["text"]>): boolean {
  const words = textsIn(data, [], field?.split(".")).map(wordsOf);
  const searched = searchedWords(match);
  return searched.length > 0 && searched.every((word) => words.some((some) => some.has(word)));
}

const known = new Map<string, ReadonlySet<string>>();

/** A text is found by its words and, in scripts without spaces, by each character. */
function wordsOf(text: string): ReadonlySet<string> {
  let words = known.get(text);
  if (words === undefined) {
    const single = text.match(/\p{sc=Han}|\p{sc=Katakana}|\p{sc=Hiragana}/gu) ?? [];
    words = new Set([...searchedWords(text), ...single.flatMap(searchedWords)]);
    known.set(text, words);
  }
  return words;
}

function textsIn(value: unknown, path: readonly string[], field: readonly string[] | undefined): string[] {
  if (typeof value === "string") {
    const isThere = field === undefined || (path.length > 0 && field.every((key, at) => path[at] === key));
    return isThere ? [value] : [];
  }
  if (Array.isArray(value)) return value.flatMap((inner) => textsIn(inner, path, field));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, [...path, key], field));
}
