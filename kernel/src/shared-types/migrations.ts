import type { Migration } from "../platform/database/database.ts";
import type { TextColumns } from "../platform/database/text-columns.ts";

export const sharedTypesMigrations: readonly Migration[] = [
  {
    name: "shared-types-1",
    // `floor` is the highest version that a removed value had: a value with its key is never at that version again.
    sql: `CREATE TABLE shared_types (
            type TEXT PRIMARY KEY, version INTEGER NOT NULL, key TEXT NOT NULL, schema TEXT NOT NULL,
            count INTEGER NOT NULL, characters INTEGER NOT NULL, floor INTEGER NOT NULL
          ) STRICT;
          CREATE TABLE shared_values (
            type TEXT NOT NULL, key TEXT NOT NULL, version INTEGER NOT NULL, value TEXT NOT NULL,
            characters INTEGER NOT NULL, PRIMARY KEY (type, key)
          ) STRICT`,
  },
];

/** The columns that a redaction cleans in values of shared types. Schemas are the extensions' own texts. */
export const sharedTypesTexts: readonly TextColumns[] = [
  { table: "shared_types", key: ["type"], columns: { type: "none", key: "none", schema: "none" } },
  { table: "shared_values", key: ["type", "key"], columns: { type: "none", key: "none", value: "json" } },
];
