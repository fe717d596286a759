import type { Migration } from "../platform/database/database.ts";

/** `day`: UTC, "2026-11-23". Dollars are integer millionths; null if the price of the model is unknown. */
export const userStateMigrations: readonly Migration[] = [
  {
    name: "secrets-1",
    sql: `CREATE TABLE secrets (
      name TEXT PRIMARY KEY, hosts TEXT NOT NULL, place TEXT NOT NULL, created TEXT NOT NULL,
      key_id TEXT NOT NULL, record BLOB NOT NULL
    ) WITHOUT ROWID, STRICT`,
  },
  {
    name: "usage-1",
    sql: `CREATE TABLE usage (
      day TEXT NOT NULL, model TEXT NOT NULL, agent TEXT NOT NULL, conversation TEXT NOT NULL,
      requests INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
      reasoning_tokens INTEGER NOT NULL, cache_read_tokens INTEGER NOT NULL, cache_write_tokens INTEGER NOT NULL,
      micro_usd INTEGER,
      PRIMARY KEY (day, model, agent, conversation)
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX usage_conversations ON usage (conversation);
    CREATE TABLE reservations (
      id TEXT PRIMARY KEY, day TEXT NOT NULL, model TEXT NOT NULL, agent TEXT NOT NULL, conversation TEXT NOT NULL,
      input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, micro_usd INTEGER
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX reservations_days ON reservations (day);
    CREATE INDEX reservations_conversations ON reservations (conversation);
    CREATE VIEW spent AS
      SELECT day, model, agent, conversation, requests, input_tokens, output_tokens, reasoning_tokens,
        cache_read_tokens, cache_write_tokens, micro_usd FROM usage
      UNION ALL
      SELECT day, model, agent, conversation, 1, input_tokens, output_tokens, 0, 0, 0, micro_usd FROM reservations`,
  },
  {
    name: "packages-1",
    sql: `CREATE TABLE publisher_keys (
      name TEXT PRIMARY KEY, public_key TEXT NOT NULL, created TEXT NOT NULL, key_id TEXT NOT NULL, record BLOB NOT NULL
    ) WITHOUT ROWID, STRICT;
    CREATE TABLE publishers (
      extension TEXT PRIMARY KEY, public_key TEXT NOT NULL, since TEXT NOT NULL
    ) WITHOUT ROWID, STRICT;
    CREATE TABLE packages (
      folder TEXT PRIMARY KEY, extension TEXT NOT NULL, version TEXT NOT NULL, public_key TEXT NOT NULL,
      source TEXT NOT NULL, installed TEXT NOT NULL
    ) WITHOUT ROWID, STRICT`,
  },
];
