import type { JsonValue } from "../../base/json.ts";
import type { Database } from "../../platform/database/database.ts";

/** Returns what waits for the agent in both lanes, in the order in which it was stored, and changes nothing. */
export async function payloadsOf(database: Database, agent: string): Promise<readonly JsonValue[]> {
  const rows = await database.query<{ payload: string }>(
    "SELECT payload FROM inbox WHERE agent = ? ORDER BY seq",
    [agent],
  );
  return rows.map(({ payload }) => JSON.parse(payload) as JsonValue);
}
