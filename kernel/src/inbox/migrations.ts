import type { Migration } from "../platform/database/database.ts";
import type { TextColumns } from "../platform/database/text-columns.ts";

export const inboxMigrations: readonly Migration[] = [
  {
    name: "inbox-1-queues",
    // AUTOINCREMENT never reuses a number, even if the newest rows are deleted.
    sql: `CREATE TABLE inbox (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            agent TEXT NOT NULL,
            lane TEXT NOT NULL,
            payload TEXT NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0,
            due_at INTEGER NOT NULL DEFAULT 0,
            enqueued_at INTEGER NOT NULL
          ) STRICT;
          CREATE INDEX inbox_by_lane ON inbox (agent, lane, seq);
          CREATE TABLE inbox_dead (
            seq INTEGER PRIMARY KEY,
            agent TEXT NOT NULL,
            lane TEXT NOT NULL,
            payload TEXT NOT NULL,
            attempts INTEGER NOT NULL,
            enqueued_at INTEGER NOT NULL,
            buried_at INTEGER NOT NULL,
            reason TEXT NOT NULL
          ) STRICT;
          CREATE INDEX inbox_dead_by_agent ON inbox_dead (agent, seq);`,
  },
  {
    name: "inbox-2-sources",
    sql: `ALTER TABLE inbox ADD COLUMN source TEXT;
          CREATE INDEX inbox_by_source ON inbox (agent, source) WHERE source IS NOT NULL;`,
  },
];

/** The columns that a redaction cleans in waiting and failed events. */
export const inboxTexts: readonly TextColumns[] = [
  {
    table: "inbox",
    key: ["seq"],
    columns: { agent: "none", lane: "none", payload: "json", source: "none" },
  },
  {
    table: "inbox_dead",
    key: ["seq"],
    columns: { agent: "none", lane: "none", payload: "json", reason: "text" },
  },
];
