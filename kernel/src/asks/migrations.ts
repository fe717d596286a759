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
  {
    // Answers for the rest of a conversation. A subject is a question's `Subject` as JSON.
    name: "asks-3-conversations",
    sql: `CREATE TABLE ask_conversations (
      conversation TEXT NOT NULL, subject TEXT NOT NULL, allow INTEGER NOT NULL, answered TEXT NOT NULL,
      PRIMARY KEY (conversation, subject)
    ) WITHOUT ROWID, STRICT`,
  },
];
