import type { MadeSchedule, MadeScheduleRows } from "../base/vocabulary/made-schedule.ts";
import type { Database, Statement } from "../platform/database/database.ts";

/** The rows of the schedules that minds made. The database has `agentStateMigrations` applied. */
export function madeScheduleRows(database: Database): MadeScheduleRows {
  return {
    all: async () => {
      const rows = await database.query<{ record: string }>("SELECT record FROM made_schedules ORDER BY id");
      return rows.map(({ record }) => JSON.parse(record) as MadeSchedule);
    },
    store: async (schedule) => {
      await database.batch([
        {
          sql: "INSERT OR REPLACE INTO made_schedules (id, record) VALUES (?, ?)",
          params: [schedule.id, JSON.stringify(schedule)],
        },
      ]);
    },
    forget: async (id) => {
      await database.batch([{ sql: "DELETE FROM made_schedules WHERE id = ?", params: [id] }]);
    },
  };
}

/** Returns the statements that turn accepted schedules into proposals, so that the next kernel asks again. */
export function proposeAgain(): Statement[] {
  return [
    {
      sql: `UPDATE made_schedules SET record = json_set(record, '$.state', 'proposed') WHERE record ->> 'state' = 'accepted'`,
      params: [],
    },
  ];
}
