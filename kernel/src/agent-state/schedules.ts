import type { KeptSchedule, ScheduleStatements } from "../agents/delivery/schedules.ts";
import type { Database, Statement } from "../platform/database/database.ts";

/** The latest time that a JavaScript date can hold. */
const latestDateMs = 8.64e15;

/**
 * Returns the time up to which each schedule has fired. Skips a row whose time is not a date: such a schedule counts from
 * now.
 */
export async function readSchedules(database: Database): Promise<readonly KeptSchedule[]> {
  const rows = await database.query<
    Omit<KeptSchedule, "suspended"> & {
      readonly suspendedSince: string | null;
      readonly error: string | null;
    }
  >(
    `SELECT agent, handler, expression, timezone, fired_through AS firedThrough, failures,
       suspended_since AS suspendedSince, error
     FROM schedules WHERE fired_through BETWEEN 0 AND ?`,
    [latestDateMs],
  );
  return rows.map(({ suspendedSince: since, error, ...schedule }) => ({
    ...schedule,
    suspended: since === null ? null : { since, error: error ?? "" },
  }));
}

export const scheduleStatements: ScheduleStatements<Statement> = {
  kept: ({ agent, handler, expression, timezone, firedThrough, failures, suspended }) => ({
    sql: `INSERT OR REPLACE INTO schedules
            (agent, handler, expression, timezone, fired_through, failures, suspended_since, error)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    params: [
      agent,
      handler,
      expression,
      timezone,
      firedThrough,
      failures,
      suspended?.since ?? null,
      suspended?.error ?? null,
    ],
  }),
  forgotten: ({ agent, handler, expression, timezone }) => ({
    sql: "DELETE FROM schedules WHERE agent = ? AND handler = ? AND expression = ? AND timezone = ?",
    params: [agent, handler, expression, timezone],
  }),
};

/** Returns what deletes the progress of an agent's schedules, with the errors of suspended ones. */
export function forgetSchedules(agent: string): Statement[] {
  return [{ sql: "DELETE FROM schedules WHERE agent = ?", params: [agent] }];
}
