import type { Embedder } from "../../embedding/port.ts";
import type { EmbedderSpec } from "../../../memory-contract/store-settings.ts";
import type { Sql } from "../../projection/port.ts";
import { compareAgainFrom } from "./compared-row.ts";
import { type Database, readFact, textList, writeFact } from "./schema.ts";

/** What the memory serves with, as stored in `knowledge_facts` "embedder". */
export interface ServingFact {
  readonly name: string;
  readonly dimensions: number;
  /** Used to reopen the embedder after a restart, until another one has taken over. Without its key. */
  readonly spec: EmbedderSpec;
}

const made = "made:";
/** The space of the embedder's vectors. */
export const spaceOf = (embedder: string): string => `${made}${embedder}`;

export async function servingFact(database: Sql): Promise<ServingFact | null> {
  const fact = await readFact(database, "embedder");
  return fact === null ? null : (JSON.parse(fact) as ServingFact);
}

export const writeServingFact = (sql: Sql, fact: ServingFact): Promise<void> =>
  writeFact(sql, "embedder", JSON.stringify(fact));

/** Writes the fact, always without a key. */
export function factOf(embedder: Embedder, specWithKey: EmbedderSpec): ServingFact {
  const { key: _, ...spec } = { key: "", ...specWithKey };
  return { name: embedder.name, dimensions: embedder.dimensions, spec };
}

export async function hasVectors(database: Database, space: string): Promise<boolean> {
  const found = await database.all("SELECT 1 AS found FROM knowledge_vectors WHERE space = ? LIMIT 1", [
    space,
  ]);
  return found.length > 0;
}

/**
 * Maximum items whose embedding was given up and that are retried at each start (those with the fewest
 * attempts first), and the maximum attempts.
 */
const triedAgain = { items: 512, tries: 12 } as const;

/**
 * Records that this embedder serves. Items whose embedding was given up are retried: the start may have fixed
 * the cause.
 */
export async function beginWith(database: Database, fact: ServingFact, servedBefore: boolean): Promise<void> {
  await database.transaction(async (sql) => {
    await writeServingFact(sql, fact);
    await sql.run(
      servedBefore
        ? `UPDATE knowledge_queue SET state = 'pending', next_ms = 0 WHERE state = 'failed' AND item_row IN (
             SELECT item_row FROM knowledge_queue WHERE state = 'failed' AND attempts < ${triedAgain.tries}
             ORDER BY attempts, item_row LIMIT ${triedAgain.items})`
        : "UPDATE knowledge_queue SET state = 'pending', attempts = 0, next_ms = 0 WHERE state = 'failed'",
    );
    const [waiting] = await sql.all<{ first: number | null }>(
      "SELECT min(item_row) AS first FROM knowledge_queue WHERE state = 'pending'",
    );
    if (waiting?.first != null) await compareAgainFrom(sql, waiting.first);
  });
}

export async function dropOthers(sql: Sql, kept: readonly string[]): Promise<void> {
  await sql.run(
    `DELETE FROM knowledge_vectors WHERE NOT starts_with(space, 'given:') AND space NOT IN ${textList}`,
    [JSON.stringify(kept)],
  );
}

/** Returns the name of the embedder that made the space. */
export const embedderOf = (space: string): string => space.slice(made.length);
