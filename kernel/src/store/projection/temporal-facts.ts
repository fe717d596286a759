import { isoTime } from "../../base/clock.ts";
import type { JsonValue } from "../../base/json.ts";
import type { TemporalItem } from "../../memory-contract/queries.ts";
import type { StoreStats } from "../../memory-contract/store-port.ts";
import type { Sql } from "./port.ts";

export async function temporalStats(sql: Sql): Promise<StoreStats["temporal"]> {
  const [found] = await sql.all<{ events: number; oldest: number | null; newest: number | null }>(
    "SELECT count(*) AS events, min(timestamp_ms) AS oldest, max(timestamp_ms) AS newest FROM events",
  );
  const iso = (ms: number | null | undefined): string | null => (ms == null ? null : isoTime(ms));
  return { events: found?.events ?? 0, oldest: iso(found?.oldest), newest: iso(found?.newest) };
}

/** Returns the events of these rows that still exist. */
export async function eventsByRow(sql: Sql, rows: readonly number[]): Promise<Map<number, TemporalItem>> {
  const found = await sql.all<{
    row: number;
    id: string;
    variant: string;
    timestamp_ms: number;
    data: string;
  }>(
    `SELECT row, id, variant, timestamp_ms, data FROM events WHERE row IN (SELECT unnest(from_json(?, '["BIGINT"]')))`,
    [JSON.stringify(rows)],
  );
  return new Map(
    found.map(({ row, id, variant, timestamp_ms: ms, data }) => [
      row,
      { id, variant, timestamp: isoTime(ms), data: JSON.parse(data) as JsonValue },
    ]),
  );
}
