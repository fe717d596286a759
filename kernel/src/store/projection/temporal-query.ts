import { isoTime } from "../../base/clock.ts";
import { invalidParams, limitExceeded } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import type {
  TemporalCount,
  TemporalCountQuery,
  TemporalItem,
  TemporalPage,
  TemporalQuery,
} from "../../memory-contract/queries.ts";
import { newestOf, type Page } from "./newest.ts";
import type { Sql, TextIndex } from "./port.ts";
import type { SqlCondition } from "./where.ts";
import { type EventFilter, eventFilter } from "./temporal-filter.ts";
import { filteredRows, rowLists } from "./text-rows.ts";

const defaultLimit = 100;
const maxLimit = 1000;
const maxOffset = 10_000_000;
/** Maximum bytes of the data of one page. */
const maxPageBytes = 16 * 1024 * 1024;
/** Maximum groups of one count. */
const maxGroups = 10_000;
/**
 * Maximum rows with the searched words that are handed to DuckDB, which does the rest: with the words as the only
 * condition, and with others.
 */
const fewRows = 1_000;
const fewConditionalRows = 20_000;

const nothing = { sql: "false", params: [] } as const satisfies SqlCondition;

/**
 * Returns a page of events. Nothing may be projected meanwhile, or total and items could be of different states. Throws
 * InvalidParams, and LimitExceeded if the page has too many bytes.
 */
export async function temporalQuery(
  sql: Sql,
  index: TextIndex,
  query: TemporalQuery,
  nowMs: number,
): Promise<TemporalPage> {
  const page = checkedPage(query);
  const filter = await eventFilter(sql, query, nowMs);
  const found = await answer(sql, index, filter);
  switch (found.kind) {
    case "condition": {
      const { condition } = found;
      const [count] = await sql.all<{ total: number }>(
        `SELECT count(*) AS total FROM events WHERE ${condition.sql}`,
        condition.params,
      );
      const total = count?.total ?? 0;
      return { items: total > page.offset ? await itemsOf(sql, condition, page) : [], total };
    }
    case "rows": {
      const total = found.total();
      if (total <= page.offset) return { items: [], total };
      const rows = await newestOf(sql, found.next(page.order), page);
      return { items: await itemsOf(sql, among(rows.join(",")), { ...page, offset: 0 }), total };
    }
  }
}

/** Returns the number of events. Throws InvalidParams, and LimitExceeded if there are too many groups. */
export async function temporalCount(
  sql: Sql,
  index: TextIndex,
  query: TemporalCountQuery,
  nowMs: number,
): Promise<TemporalCount> {
  const filter = await eventFilter(sql, query, nowMs);
  const found = await answer(sql, index, filter);
  const { group_by: groupBy } = query;
  if (groupBy === undefined) {
    if (found.kind === "rows") return { count: found.total() };
    const { sql: condition, params } = found.condition;
    const [row] = await sql.all<{ n: number }>(`SELECT count(*) AS n FROM events WHERE ${condition}`, params);
    return { count: row?.n ?? 0 };
  }
  const conditions = found.kind === "condition" ? [found.condition] : rowLists(found.all()).map(among);
  const counts = new Map<string, number>();
  for (const condition of conditions) {
    const groups = await sql.all<{ key: string | number; n: number }>(
      `SELECT ${groupKey(groupBy)} AS key, count(*) AS n FROM events WHERE ${condition.sql} GROUP BY 1 LIMIT ${maxGroups + 1}`,
      condition.params,
    );
    for (const { key, n } of groups) {
      const name = typeof key === "number" ? isoTime(key) : key;
      counts.set(name, (counts.get(name) ?? 0) + n);
    }
    if (counts.size > maxGroups) {
      throw limitExceeded(
        "groups",
        counts.size,
        `There are more than ${maxGroups} groups: narrow the time, or group by day.`,
      );
    }
  }
  const sorted = [...counts].toSorted(([left], [right]) => (left < right ? -1 : 1));
  return {
    count: sorted.reduce((sum, [, n]) => sum + n, 0),
    groups: Object.fromEntries(sorted),
  };
}

/** How a filter is executed: a condition for DuckDB, or rows that the full text found. */
type Answer =
  | { readonly kind: "condition"; readonly condition: SqlCondition }
  | {
      readonly kind: "rows";
      total(): number;
      /** Returns rows in this order of appending, after `after` (null: from the beginning). */
      next(order: Page["order"]): (after: number | null, limit: number) => readonly number[];
      /** Returns all rows, separated by commas. */
      all(): string;
    };

async function answer(
  sql: Sql,
  index: TextIndex,
  { condition, isConditional, text }: EventFilter,
): Promise<Answer> {
  if (text === null) return { kind: "condition", condition };
  if (text.hasNoWords) return { kind: "condition", condition: nothing };
  const { match, field } = text;
  const inField = field === undefined ? {} : { field };
  const few = isConditional ? fewConditionalRows : fewRows;
  if (index.count("temporal", match, { ...inField, atMost: few + 1 }) <= few) {
    const rows = among(index.rows("temporal", match, inField));
    return {
      kind: "condition",
      condition: { sql: `${rows.sql} AND ${condition.sql}`, params: [...rows.params, ...condition.params] },
    };
  }
  if (isConditional)
    return rowsAnswer(await filteredRows(sql, condition, index.rows("temporal", match, inField)));
  return {
    kind: "rows",
    total: () => index.count("temporal", match, inField),
    next: (order) => (after, limit) =>
      index.matching("temporal", match, {
        ...inField,
        limit,
        ...(order === "desc"
          ? { order: "newest", ...(after === null ? {} : { beforeRow: after }) }
          : { order: "oldest", ...(after === null ? {} : { afterRow: after }) }),
      }),
    all: () => index.rows("temporal", match, inField),
  };
}

/** A list of known rows, ascending. */
function rowsAnswer(rows: Float64Array): Answer {
  return {
    kind: "rows",
    total: () => rows.length,
    next: (order) => {
      let taken = 0;
      return (_, limit) => {
        const some =
          order === "asc"
            ? rows.slice(taken, taken + limit)
            : rows.slice(Math.max(0, rows.length - taken - limit), rows.length - taken).toReversed();
        taken += some.length;
        return [...some];
      };
    },
    all: () => rows.join(","),
  };
}

/** Returns the rows of a comma-separated list. */
const among = (rows: string): SqlCondition =>
  rows === ""
    ? nothing
    : { sql: "row IN (SELECT CAST(unnest(string_split(?, ',')) AS BIGINT))", params: [rows] };

/** Returns one page, in order. The rows are chosen first, so that data is read only for these. */
async function itemsOf(
  sql: Sql,
  condition: SqlCondition,
  { order, limit, offset }: Page,
): Promise<TemporalItem[]> {
  const direction = order === "desc" ? "DESC" : "ASC";
  const rows = await sql.all<{
    id: string;
    variant: string;
    timestampMs: number;
    data: string | null;
    bytes: number;
  }>(
    `WITH page AS (
       SELECT row, id, variant, timestamp_ms, data FROM events WHERE rowid IN (
         SELECT rowid FROM events WHERE ${condition.sql}
         ORDER BY timestamp_ms ${direction}, row ${direction} LIMIT ? OFFSET ?)),
     size AS (SELECT sum(strlen(data)) AS bytes FROM page)
     SELECT id, variant, timestamp_ms AS "timestampMs", CAST(bytes AS BIGINT) AS bytes,
       CASE WHEN bytes <= ${maxPageBytes} THEN data END AS data
     FROM page, size ORDER BY timestamp_ms ${direction}, row ${direction}`,
    [...condition.params, limit, offset],
  );
  const [first] = rows;
  if (first !== undefined && first.bytes > maxPageBytes) {
    throw limitExceeded(
      "page_bytes",
      first.bytes,
      `These ${rows.length} events hold ${first.bytes} bytes; one answer may hold ${maxPageBytes}. Ask for fewer at once with limit.`,
    );
  }
  return rows.map(({ id, variant, timestampMs, data }) => ({
    id,
    variant,
    timestamp: isoTime(timestampMs),
    data: JSON.parse(data ?? "null") as JsonValue,
  }));
}

/** The start of an interval comes in milliseconds, also before 1970. */
function groupKey(groupBy: NonNullable<TemporalCountQuery["group_by"]>): string {
  const widths = { hour: 3_600_000, day: 86_400_000 };
  switch (groupBy) {
    case "variant":
      return "variant";
    case "hour":
    case "day": {
      const width = widths[groupBy];
      return `timestamp_ms - ((timestamp_ms % ${width}) + ${width}) % ${width}`;
    }
    default:
      throw invalidParams(`group_by "${String(groupBy satisfies never)}" must be variant, hour or day.`);
  }
}

function checkedPage({ order = "desc", limit = defaultLimit, offset = 0 }: TemporalQuery): Page {
  if (order !== "asc" && order !== "desc") throw invalidParams(`order must be "asc" or "desc".`);
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit) {
    throw invalidParams(`limit ${String(limit)} is not a whole number from 1 to ${maxLimit}.`);
  }
  if (!Number.isInteger(offset) || offset < 0 || offset > maxOffset) {
    throw invalidParams(`offset ${String(offset)} is not a whole number from 0 to ${maxOffset}.`);
  }
  return { order, limit, offset };
}
