import type { Migration } from "../platform/database/database.ts";
import type { TextColumns } from "../platform/database/text-columns.ts";

export const notificationMigrations: readonly Migration[] = [
  {
    // `held` is above 0 in the kernel's own notification about an agent that sent too many; it has no texts. `proposal` is
    // JSON, null if it was too large to keep. `lineage` is JSON: on whose behalf the agent proposed it.
    name: "notifications-1",
    sql: `CREATE TABLE notifications (
      seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, agent TEXT NOT NULL, title TEXT NOT NULL, message TEXT NOT NULL,
      severity TEXT NOT NULL, state TEXT NOT NULL, count INTEGER NOT NULL, held INTEGER NOT NULL,
      created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, action TEXT, proposal TEXT, lineage TEXT
    ) STRICT`,
  },
  {
    // JSON: the suspended schedule that the kernel's own notification is about.
    name: "notifications-2-schedule",
    sql: `ALTER TABLE notifications ADD COLUMN schedule TEXT`,
  },
];

/** The columns that a redaction cleans in notifications. */
export const notificationTexts: readonly TextColumns[] = [
  {
    table: "notifications",
    key: ["id"],
    columns: {
      id: "none",
      agent: "none",
      title: "text",
      message: "text",
      severity: "none",
      state: "none",
      action: "none",
      proposal: "json",
      lineage: "none",
      schedule: "none",
    },
  },
];
