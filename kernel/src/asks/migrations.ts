import type { Migration } from "../platform/database/database.ts";
import type { TextColumns } from "../platform/database/text-columns.ts";

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

/** The columns that a redaction cleans in questions. A key is a hash. */
export const askTexts: readonly TextColumns[] = [
  { table: "asks", key: ["id"], columns: { id: "none", state: "none", record: "json", about: "json" } },
  { table: "ask_keys", key: ["key"], columns: { key: "none", ask: "none" } },
  {
    table: "ask_conversations",
    key: ["conversation", "subject"],
    columns: { conversation: "none", subject: "row", answered: "none" },
  },
];
