import type { Migration } from "../platform/database/database.ts";

export const asksMigrations: readonly Migration[] = [
  {
    name: "asks-1-asks",
    sql: `CREATE TABLE asks (
      id TEXT PRIMARY KEY, state TEXT NOT NULL, record TEXT NOT NULL
    ) WITHOUT ROWID, STRICT`,
  },
  {
    // `about` is the rest of the question, of one that outlives its kernel. A key names what asked.
    name: "asks-2-keys",
    sql: `ALTER TABLE asks ADD COLUMN about TEXT;
      CREATE TABLE ask_keys (key TEXT PRIMARY KEY, ask TEXT NOT NULL) WITHOUT ROWID, STRICT`,
  },
];
