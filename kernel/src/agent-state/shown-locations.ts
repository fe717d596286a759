import type { ShownLocation, SightStatements, AnnouncedEntry } from "../agents/delivery/initial-sync.ts";
import type { Database, Statement } from "../platform/database/database.ts";

/** Returns the locations that each agent has been shown, and the entries already announced in unfinished ones. */
export async function readShown(database: Database): Promise<{
  readonly alreadyShown: readonly ShownLocation[];
  readonly alreadyAnnounced: readonly AnnouncedEntry[];
}> {
  return {
    alreadyShown: await database.query<{ agent: string; location: string }>(
      "SELECT agent, location FROM shown_locations",
    ),
    alreadyAnnounced: await database.query<{ agent: string; location: string; entry: string }>(
      "SELECT agent, location, entry FROM told_entries",
    ),
  };
}

export const sightStatements: SightStatements<Statement> = {
  shown: ({ agent, location }) => ({
    sql: "INSERT OR IGNORE INTO shown_locations (agent, location) VALUES (?, ?)",
    params: [agent, location],
  }),
  forgotten: ({ agent, location }) => ({
    sql: "DELETE FROM shown_locations WHERE agent = ? AND location = ?",
    params: [agent, location],
  }),
  announced: ({ agent, location, entry }) => ({
    sql: `INSERT OR IGNORE INTO told_entries (agent, location, entry) SELECT ?, ?, ?
          WHERE NOT EXISTS (SELECT 1 FROM shown_locations WHERE agent = ? AND location = ?)`,
    params: [agent, location, entry, agent, location],
  }),
  withdrawn: ({ agent, location, entry }) => ({
    sql: "DELETE FROM told_entries WHERE agent = ? AND location = ? AND entry = ?",
    params: [agent, location, entry],
  }),
  settled: ({ agent, location }) => ({
    sql: "DELETE FROM told_entries WHERE agent = ? AND location = ?",
    params: [agent, location],
  }),
};
