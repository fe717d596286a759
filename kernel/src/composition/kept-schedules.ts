import type { KeptSchedule, ScheduleStatements } from "../agents/schedules.ts";
import type { Database, Statement } from "../platform/database.ts";

/** Up to which time each schedule has fired, as the ledger keeps it. */
export function readSchedules(database: Database): Promise<readonly KeptSchedule[]> {
  return database.query<KeptSchedule>(
    "SELECT agent, handler, expression, timezone, fired_through AS firedThrough FROM schedules",
  );
}

export const scheduleStatements: ScheduleStatements<Statement> = {
  fired: ({ agent, handler, expression, timezone, firedThrough }) => ({
    sql: `INSERT OR REPLACE INTO schedules (agent, handler, expression, timezone, fired_through)
          VALUES (?, ?, ?, ?, ?)`,
    params: [agent, handler, expression, timezone, firedThrough],
  }),
  forgotten: ({ agent, handler, expression, timezone }) => ({
    sql: "DELETE FROM schedules WHERE agent = ? AND handler = ? AND expression = ? AND timezone = ?",
    params: [agent, handler, expression, timezone],
  }),
};
