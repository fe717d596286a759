import type { KeptSchedule, ScheduleStatements } from "../agents/schedules.ts";
import type { Database, Statement } from "../platform/database.ts";

/** The latest time that JavaScript has a date for. */
const latestDateMs = 8.64e15;

/**
 * Up to which time each schedule has fired, as the ledger keeps it. A time that no clock has put there is none: such a
 * schedule counts from now.
 */
export function readSchedules(database: Database): Promise<readonly KeptSchedule[]> {
  return database.query<KeptSchedule>(
    `SELECT agent, handler, expression, timezone, fired_through AS firedThrough FROM schedules
     WHERE fired_through BETWEEN 0 AND ?`,
    [latestDateMs],
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
