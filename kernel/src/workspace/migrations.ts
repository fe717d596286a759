import type { Migration } from "../platform/database/database.ts";

export const workspaceMigrations: readonly Migration[] = [
  {
    name: "workspace-1-entries",
    sql: `
      -- A root's name stands for the parent of what lies directly in it. Times are microseconds since 1970.
      CREATE TABLE entries (
        id TEXT PRIMARY KEY, root TEXT NOT NULL, parent TEXT, name TEXT NOT NULL, kind TEXT NOT NULL,
        size INTEGER NOT NULL, mtime_us INTEGER NOT NULL, birthtime_us INTEGER NOT NULL, inode INTEGER NOT NULL,
        device INTEGER NOT NULL, content_id TEXT
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE entry_tags (entry TEXT NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (entry, tag)) STRICT, WITHOUT ROWID;
      CREATE TABLE entry_fields (
        entry TEXT NOT NULL, namespace TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (entry, namespace, key)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE entry_sidecars (
        entry TEXT NOT NULL, sidecar TEXT NOT NULL, hash TEXT NOT NULL, data TEXT NOT NULL,
        PRIMARY KEY (entry, sidecar)
      ) STRICT;
    `,
  },
  {
    name: "workspace-2-awaited-metadata",
    sql: "CREATE TABLE awaited_metadata (path TEXT PRIMARY KEY, changes TEXT NOT NULL) STRICT, WITHOUT ROWID",
  },
];
