import type { Migration } from "../platform/database/database.ts";

export const asksMigrations: readonly Migration[] = [
  {
    name: "asks-1-asks",
    sql: `CREATE TABLE asks (
      id TEXT PRIMARY KEY, state TEXT NOT NULL, record TEXT NOT NULL
    ) WITHOUT ROWID, STRICT`,
  },
];
