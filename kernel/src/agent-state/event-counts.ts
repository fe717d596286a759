import { keptDays, maxCounted, type DayCountStatements, type KeptCount } from "../agents/day-counts.ts";
import type { Database, Statement } from "../platform/database/database.ts";

/** Returns how many events each agent answered on the last days, the newest day first. */
export function readDayCounts(database: Database): Promise<readonly KeptCount[]> {
  return database.query<KeptCount>(
    `SELECT day, agent, hook, count FROM event_counts WHERE count > 0 ORDER BY day DESC LIMIT ?`,
    [keptDays * maxCounted],
  );
}

export const dayCountStatements: DayCountStatements<Statement> = {
  counted: ({ day, agent, hook, count }) => ({
    sql: "INSERT OR REPLACE INTO event_counts (day, agent, hook, count) VALUES (?, ?, ?, ?)",
    params: [day, agent, hook, count],
  }),
  kept: (days) => ({
    sql: "DELETE FROM event_counts WHERE day NOT IN (SELECT value FROM json_each(?))",
    params: [JSON.stringify(days)],
  }),
};
