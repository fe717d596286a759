import type { Lineage } from "../base/vocabulary/principal.ts";
import type { Database } from "../platform/database/database.ts";
import { lineageIn } from "./stored-parts.ts";

export interface CausedJob {
  readonly id: string;
  readonly lineage: Lineage;
}

/** Returns the unfinished jobs that processes of a conversation led to. */
export async function jobsCausedIn(database: Database, conversation: string): Promise<readonly CausedJob[]> {
  // A first selection by text: the same text may also stand elsewhere in a lineage.
  const rows = await database.query<{ id: string; lineage: string }>(
    "SELECT id, lineage FROM jobs WHERE instr(lineage, ?) > 0",
    [JSON.stringify(conversation)],
  );
  const isOf = ({ onBehalfOf }: Lineage): boolean =>
    onBehalfOf.some((by) => by.kind === "process" && by.conversation === conversation);
  return rows.flatMap(({ id, lineage: text }) => {
    const lineage = lineageIn(text);
    return lineage !== null && isOf(lineage) ? [{ id, lineage }] : [];
  });
}
