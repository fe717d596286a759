import type { Statement } from "../platform/database/database.ts";

/** Returns what deletes the events that wait for an agent or were dead-lettered. */
export function forgetDeliveries(agent: string): Statement[] {
  return ["inbox", "inbox_dead"].map((table) => ({
    sql: `DELETE FROM ${table} WHERE agent = ?`,
    params: [agent],
  }));
}
