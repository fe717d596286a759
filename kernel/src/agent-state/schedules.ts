import type { KeptSchedule, ScheduleStatements } from "../agents/delivery/schedules.ts";
import type { Database, Statement } from "../platform/database/database.ts";

/** The latest time that a JavaScript date can hold. */
const latestDateMs = 8.64e15;

/**
 * Returns the time up to which each schedule has fired. Skips a row whose time is not a date: such a schedule counts from
 * now.
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
