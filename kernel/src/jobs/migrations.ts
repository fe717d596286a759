import type { Migration } from "../platform/database/database.ts";
import type { TextColumns } from "../platform/database/text-columns.ts";

export const jobsMigrations: readonly Migration[] = [
  {
    name: "jobs-1",
    // AUTOINCREMENT never reuses a number, even if the newest rows are deleted.
    sql: `CREATE TABLE jobs (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            agent TEXT NOT NULL,
            name TEXT NOT NULL,
            key TEXT,
            priority INTEGER NOT NULL,
            when_idle INTEGER NOT NULL,
            input TEXT NOT NULL,
            checkpoint TEXT,
            attempts INTEGER NOT NULL DEFAULT 0,
            due_at INTEGER NOT NULL DEFAULT 0,
            dispatched_at INTEGER NOT NULL
          ) STRICT;
          CREATE UNIQUE INDEX jobs_by_key ON jobs (agent, key) WHERE key IS NOT NULL;
          CREATE TABLE jobs_failed (
            seq INTEGER PRIMARY KEY,
            id TEXT NOT NULL,
            agent TEXT NOT NULL,
            name TEXT NOT NULL,
            key TEXT,
            input TEXT NOT NULL,
            checkpoint TEXT,
            attempts INTEGER NOT NULL,
            dispatched_at INTEGER NOT NULL,
            failed_at INTEGER NOT NULL,
            reason TEXT NOT NULL
          ) STRICT;
          CREATE INDEX jobs_failed_by_agent ON jobs_failed (agent, seq);`,
  },
  {
    name: "jobs-2",
    // The calls that led to the dispatch, as JSON; null if there were none.
    sql: "ALTER TABLE jobs ADD COLUMN lineage TEXT;",
  },
  {
    name: "jobs-3",
    // Texts that nobody vouches for and that whoever wrote input or checkpoint had read, as JSON; null if there were none.
    sql: "ALTER TABLE jobs ADD COLUMN read_before TEXT;",
  },
  {
    name: "jobs-4-dead",
    // How often the job's function failed. A dead job of an older kernel has no priority: nobody stored on whose behalf it ran.
    sql: `ALTER TABLE jobs ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
          ALTER TABLE jobs_failed ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
          ALTER TABLE jobs_failed ADD COLUMN priority INTEGER;
          ALTER TABLE jobs_failed ADD COLUMN when_idle INTEGER;
          ALTER TABLE jobs_failed ADD COLUMN lineage TEXT;
          ALTER TABLE jobs_failed ADD COLUMN read_before TEXT;
          CREATE INDEX jobs_failed_by_id ON jobs_failed (id);
          CREATE TABLE job_tasks (
            agent TEXT NOT NULL,
            job TEXT NOT NULL,
            key TEXT NOT NULL,
            result TEXT NOT NULL,
            read_before TEXT,
            PRIMARY KEY (job, key)
          ) STRICT;
          CREATE INDEX job_tasks_by_agent ON job_tasks (agent);`,
  },
];

const jobColumns = {
  id: "none",
  agent: "none",
  name: "none",
  key: "none",
  input: "json",
  checkpoint: "json",
  lineage: "none",
  read_before: "none",
} as const;

/** The columns that a redaction cleans in jobs. A lineage names callers and sources. */
export const jobTexts: readonly TextColumns[] = [
  { table: "jobs", key: ["seq"], columns: jobColumns },
  { table: "jobs_failed", key: ["seq"], columns: { ...jobColumns, reason: "text" } },
  {
    table: "job_tasks",
    key: ["job", "key"],
    columns: { agent: "none", job: "none", key: "none", result: "json", read_before: "none" },
  },
];
