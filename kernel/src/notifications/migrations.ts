import type { Migration } from "../platform/database/database.ts";

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
];
