import type { Migration } from "../platform/database/database.ts";
import type { TextColumns } from "../platform/database/text-columns.ts";

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

/**
 * The index mirrors the workspace: names, tags, fields and sidecars of the person's own files. Nothing is removed from it as
 * long as the files have it.
 */
export const workspaceTexts: readonly TextColumns[] = [
  {
    table: "entries",
    key: ["id"],
    columns: { id: "none", root: "none", parent: "none", name: "none", kind: "none", content_id: "none" },
  },
  { table: "entry_tags", key: ["entry", "tag"], columns: { entry: "none", tag: "none" } },
  {
    table: "entry_fields",
    key: ["entry", "namespace", "key"],
    columns: { entry: "none", namespace: "none", key: "none", value: "none" },
  },
  {
    table: "entry_sidecars",
    key: ["entry", "sidecar"],
    columns: { entry: "none", sidecar: "none", hash: "none", data: "none" },
  },
  { table: "awaited_metadata", key: ["path"], columns: { path: "none", changes: "none" } },
];
