import type { Migration } from "../platform/database/database.ts";
import type { TextColumns } from "../platform/database/text-columns.ts";

export const forgettingMigrations: readonly Migration[] = [
  {
    // `request` is JSON, with the texts that a kernel had begun to remove; null: only the database's log is to be emptied.
    name: "forgetting-1",
    sql: "CREATE TABLE forgetting (id TEXT PRIMARY KEY, request TEXT) WITHOUT ROWID, STRICT",
  },
];

/** A request is deleted when what it wants is done. */
export const forgettingTexts: readonly TextColumns[] = [
  { table: "forgetting", key: ["id"], columns: { id: "none", request: "own" } },
];
