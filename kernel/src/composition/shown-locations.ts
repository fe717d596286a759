import type { ShownLocation } from "../agents/first-sight.ts";
import type { Database, Statement } from "../platform/database.ts";

/** Which agent has been shown which of its locations, as the ledger keeps it. */
export const shownLocations = {
  read: (database: Database): Promise<readonly ShownLocation[]> =>
    database.query<{ agent: string; location: string }>("SELECT agent, location FROM shown_locations"),
  shown: ({ agent, location }: ShownLocation): Statement => ({
    sql: "INSERT OR IGNORE INTO shown_locations (agent, location) VALUES (?, ?)",
    params: [agent, location],
  }),
  forgotten: ({ agent, location }: ShownLocation): Statement => ({
    sql: "DELETE FROM shown_locations WHERE agent = ? AND location = ?",
    params: [agent, location],
  }),
} as const;
