import type { Migration } from "../platform/database/database.ts";
import type { TextColumns } from "../platform/database/text-columns.ts";

export const agentStateMigrations: readonly Migration[] = [
  {
    name: "agents-1-shown-locations",
    sql: `CREATE TABLE shown_locations (
      agent TEXT NOT NULL, location TEXT NOT NULL, PRIMARY KEY (agent, location)
    ) WITHOUT ROWID, STRICT`,
  },
  {
    name: "agents-2-told-entries",
    sql: `CREATE TABLE told_entries (
      agent TEXT NOT NULL, location TEXT NOT NULL, entry TEXT NOT NULL, PRIMARY KEY (agent, location, entry)
    ) WITHOUT ROWID, STRICT`,
  },
  {
    name: "agents-3-event-counts",
    sql: `CREATE TABLE event_counts (
      day TEXT NOT NULL, agent TEXT NOT NULL, hook TEXT NOT NULL, count INTEGER NOT NULL,
      PRIMARY KEY (day, agent, hook)
    ) WITHOUT ROWID, STRICT`,
  },
  {
    name: "schedules-1-fired-through",
    sql: `CREATE TABLE schedules (
      agent TEXT NOT NULL, handler TEXT NOT NULL, expression TEXT NOT NULL, timezone TEXT NOT NULL,
      fired_through INTEGER NOT NULL, PRIMARY KEY (agent, handler, expression, timezone)
    ) WITHOUT ROWID, STRICT`,
  },
  {
    name: "models-1-script-turns",
    sql: `CREATE TABLE script_turns (
      provider TEXT NOT NULL, turn INTEGER NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (provider, turn, digest)
    ) WITHOUT ROWID, STRICT`,
  },
  {
    name: "schedules-2-made",
    sql: `CREATE TABLE made_schedules (id TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID, STRICT`,
  },
  {
    name: "agents-4-foreign-places",
    sql: `CREATE TABLE foreign_places (
      place TEXT NOT NULL, item TEXT NOT NULL, sources TEXT NOT NULL, PRIMARY KEY (place, item)
    ) WITHOUT ROWID, STRICT`,
  },
  {
    name: "schedules-3-failures",
    sql: `ALTER TABLE schedules ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE schedules ADD COLUMN suspended_since TEXT;
      ALTER TABLE schedules ADD COLUMN error TEXT`,
  },
];

/** The columns that a redaction cleans in schedules made by minds. The others hold names, paths and counts. */
export const agentStateTexts: readonly TextColumns[] = [
  { table: "shown_locations", key: ["agent", "location"], columns: { agent: "none", location: "none" } },
  {
    table: "told_entries",
    key: ["agent", "location", "entry"],
    columns: { agent: "none", location: "none", entry: "none" },
  },
  {
    table: "event_counts",
    key: ["day", "agent", "hook"],
    columns: { day: "none", agent: "none", hook: "none" },
  },
  {
    table: "schedules",
    key: ["agent", "handler", "expression", "timezone"],
    columns: {
      agent: "none",
      handler: "none",
      expression: "none",
      timezone: "none",
      suspended_since: "none",
      error: "text",
    },
  },
  {
    table: "script_turns",
    key: ["provider", "turn", "digest"],
    columns: { provider: "none", digest: "none" },
  },
  { table: "made_schedules", key: ["id"], columns: { id: "none", record: "own" } },
  {
    table: "foreign_places",
    key: ["place", "item"],
    columns: { place: "none", item: "none", sources: "none" },
  },
];
