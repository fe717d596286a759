import type { ProposedChange, PrunePolicy } from "../port.ts";
import type { Sql } from "../projection/port.ts";
import { type AtRest, decodeAtRest } from "./at-rest.ts";
import { effectiveOf, factorsSql, type FactorsRow } from "./hydrate.ts";
import type { KnowledgeView } from "./query.ts";
import { type Database, numberList, readFact, removeVectors, textList, writeFact } from "./schema.ts";
import { heatSql } from "./tiers.ts";
import type { VectorSpace } from "./vector-space.ts";

/** More like each other than this, with the same words or data: one is enough. */
const duplicateSimilarity = 0.98;
/** Vectors whose neighbours are looked at by one maintenance; the next goes on from there. */
const mergesLookedAt = 500;
const neighboursLookedAt = 4;
/** Changes that one maintenance proposes at most. */
const maxProposedChanges = 1_000;

/** Beyond `maxVectors`, the coldest items lose theirs. They are found by their words, and say so. */
export async function evictColdest(
  database: Database,
  serving: readonly string[],
  maxVectors: number,
  nowMs: number,
): Promise<void> {
  const spaces = JSON.stringify(serving);
  await database.transaction(async (sql) => {
    const [counted] = await sql.all<{ count: number }>(
      `SELECT count(*) AS count FROM knowledge_vectors WHERE space IN ${textList}`,
      [spaces],
    );
    const excess = (counted?.count ?? 0) - maxVectors;
    if (excess <= 0) return;
    const coldest = await sql.all<{ item_row: number }>(
      `SELECT item_row FROM (${heatSql(nowMs)}) WHERE space IN ${textList}
       ORDER BY heat, item_row LIMIT ${Math.trunc(excess)}`,
      [spaces],
    );
    const rows = JSON.stringify([...new Set(coldest.map(({ item_row: row }) => row))]);
    await removeVectors(sql, `item_row IN ${numberList}`, [rows]);
    await sql.run(`DELETE FROM knowledge_queue WHERE item_row IN ${numberList}`, [rows]);
    await sql.run(
      `INSERT INTO knowledge_queue SELECT unnest(from_json(?, '["BIGINT"]')), 'evicted', 0, 0, 0`,
      [rows],
    );
  });
}

/**
 * Of two items of one variant that say the same, the older goes and the newer says that it `Updates` it. Looks at
 * vectors that came since the last time, so many at a time.
 */
export async function proposeMerges(view: KnowledgeView): Promise<ProposedChange[]> {
  const { database, made, codebooks } = view;
  if (made === null) return [];
  const after = Number((await readFact(database, "merged")) ?? 0);
  const fresh = await database.all<AtRest & { label: number }>(
    `SELECT label, space, tier, bytes FROM knowledge_vectors WHERE label > ? AND space = ?
     ORDER BY label LIMIT ${mergesLookedAt}`,
    [after, made.name],
  );
  const changes: ProposedChange[] = [];
  const gone = new Set<string>();
  let looked = after;
  for (const { label, ...atRest } of fresh) {
    if (changes.length >= maxProposedChanges) break;
    looked = label;
    const vector = await decodeAtRest(codebooks, atRest);
    const near = made.index
      .search(vector, neighboursLookedAt)
      .filter((each) => each.similarity > duplicateSimilarity && each.label !== label);
    if (near.length === 0) continue;
    for (const { older, newer } of await duplicates(
      database,
      label,
      near.map((each) => each.label),
    )) {
      if (gone.has(older) || gone.has(newer)) continue;
      gone.add(older);
      changes.push(
        { operation: "relate", from: newer, to: older, relation: "Updates" },
        { operation: "delete", id: older, reason: "merged" },
      );
    }
  }
  if (looked > after) await database.transaction((sql) => writeFact(sql, "merged", String(looked)));
  return changes;
}

async function duplicates(
  sql: Sql,
  label: number,
  others: readonly number[],
): Promise<{ older: string; newer: string }[]> {
  return sql.all(
    `WITH pair AS (
       SELECT i.* FROM knowledge_vectors v JOIN knowledge_items i ON i.item_row = v.item_row WHERE v.label = ?)
     SELECT CASE WHEN i.item_row < p.item_row THEN i.id ELSE p.id END AS older,
       CASE WHEN i.item_row < p.item_row THEN p.id ELSE i.id END AS newer
     FROM knowledge_vectors v JOIN knowledge_items i ON i.item_row = v.item_row, pair p
     WHERE v.label IN ${numberList} AND i.item_row <> p.item_row AND i.variant = p.variant
       AND (i.words = p.words OR (i.data = p.data AND i.words IS NOT DISTINCT FROM p.words))
     ORDER BY i.item_row`,
    [label, JSON.stringify(others)],
  );
}

/** Nothing, where no policy says so. */
export async function proposePrunes(
  sql: Sql,
  policy: PrunePolicy | null,
  nowMs: number,
): Promise<ProposedChange[]> {
  if (policy === null) return [];
  const old = await sql.all<FactorsRow>(
    `SELECT * FROM (${factorsSql("i.updated_ms < ?")}) WHERE accesses = 0 ORDER BY item_row`,
    [Math.trunc(nowMs - policy.olderThanMs)],
  );
  return old
    .filter((item) => effectiveOf(item, nowMs) < policy.belowImportance)
    .slice(0, maxProposedChanges)
    .map(({ id }) => ({ operation: "delete", id, reason: "pruned" }));
}

/** Word of what went, once no index on the disk may still have it. */
export async function forgetGone(database: Database, spaces: readonly VectorSpace[]): Promise<void> {
  const seenByAll = Math.min(...spaces.map((space) => space.savedPosition));
  if (!Number.isFinite(seenByAll)) return;
  await database.run("DELETE FROM knowledge_vectors_gone WHERE position <= ?", [seenByAll]);
}
