import type { Sql } from "./port.ts";

export interface Page {
  readonly order: "asc" | "desc";
  readonly limit: number;
  readonly offset: number;
}

/** Rows that are examined in the first step; each further step takes four times as many. */
const firstStep = 1024;
const maxStep = 200_000;

/**
 * Returns the rows of a page, from rows that come in order of appending, usually without examining all of them, because
 * that is mostly the order of time as well. After a clock was set back it is not, so the search ends only when no row
 * that is still to come can be newer (older, if ascending) than the last one of the page.
 */
export async function newestOf(
  sql: Sql,
  next: (after: number | null, limit: number) => readonly number[],
  { order, limit, offset }: Page,
): Promise<number[]> {
  const needed = offset + limit;
  const sign = order === "desc" ? -1 : 1;
  const direction = order === "desc" ? "DESC" : "ASC";
  let best: { row: number; timestampMs: number }[] = [];
  let after: number | null = null;
  for (let step = Math.max(firstStep, needed * 2); ; step = Math.min(maxStep, step * 4)) {
    const rows = next(after, step);
    after = rows.at(-1) ?? after;
    if (rows.length > 0) {
      const found = await sql.all<{ row: number; timestampMs: number }>(
        `SELECT row, timestamp_ms AS "timestampMs" FROM events
         WHERE row IN (SELECT CAST(unnest(string_split(?, ',')) AS BIGINT))
         ORDER BY timestamp_ms ${direction}, row ${direction} LIMIT ?`,
        [rows.join(","), needed],
      );
      best = [...best, ...found]
        .toSorted(
          (left, right) => sign * (left.timestampMs - right.timestampMs) || sign * (left.row - right.row),
        )
        .slice(0, needed);
    }
    if (rows.length < step || after === null) break;
    const last = best[needed - 1];
    if (last !== undefined && !(await canCome(sql, order, after, last.timestampMs))) break;
  }
  return best.slice(offset).map(({ row }) => row);
}

/** Events at the same time are in the order of their rows, so a later row comes after. */
async function canCome(sql: Sql, order: Page["order"], after: number, lastMs: number): Promise<boolean> {
  const [row] = await sql.all<{ ms: number | null }>(
    order === "desc"
      ? "SELECT max(timestamp_ms) AS ms FROM events WHERE row < ?"
      : "SELECT min(timestamp_ms) AS ms FROM events WHERE row > ?",
    [after],
  );
  const ms = row?.ms ?? null;
  return ms !== null && (order === "desc" ? ms > lastMs : ms < lastMs);
}
