import { canonicalJson } from "../../../base/json.ts";
import type { ProposedChange, PrunePolicy } from "../../../memory-contract/store-port.ts";
import type { Sql } from "../../projection/port.ts";
import { type AtRest, decodeVector } from "../../vectors/quantize.ts";
import { effectiveOf, factorsSql, type FactorsRow } from "../search/hydrate.ts";
import type { KnowledgeView } from "../search/query.ts";
import { type Database, numberList, readFact, removeVectors, textList, writeFact } from "../rows/schema.ts";
import { heatSql } from "./tiers.ts";
import type { VectorSpace } from "../embedding/vector-space.ts";

/**
 * If two items are more similar than this, and the newer one says all that the older does, they are merged.
 */
const duplicateSimilarity = 0.98;
/** Vectors whose neighbours are examined by one maintenance; the next one continues from there. */
const mergesLookedAt = 500;
const neighboursLookedAt = 4;
/** An item with more relations than this is kept. */
const maxTaken = 256;
/** Maximum changes that one maintenance proposes. */
const maxProposedChanges = 1_000;

/**
 * Removes the vectors of the coldest items beyond `maxVectors`. The items are found by words, and are marked.
 */
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
 * Proposes to merge two items of one variant if the newer one says everything that the older one does: the
 * older is removed, and the newer gets its relations and an `Updates` relation to it. Examines a batch of the
 * vectors that were added since the last call, and again those with an earlier proposal, which may have been
 * lost with its caller.
 */
export async function proposeMerges(view: KnowledgeView): Promise<ProposedChange[]> {
  const { database, made } = view;
  if (made === null) return [];
  const after = Number((await readFact(database, "merged")) ?? 0);
  const fresh = await database.all<AtRest & { label: number }>(
    `SELECT label, tier, bytes FROM knowledge_vectors WHERE label > ? AND space = ?
     ORDER BY label LIMIT ${mergesLookedAt}`,
    [after, made.name],
  );
  const changes: ProposedChange[] = [];
  const gone = new Set<string>();
  const taken = new Map<string, readonly RelationRow[]>();
  let looked = after;
  let firstProposed = Infinity;
  for (const { label, ...atRest } of fresh) {
    if (changes.length >= maxProposedChanges) break;
    looked = label;
    const vector = decodeVector(atRest);
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
      // The relations that it takes over in this run are not in the tables yet.
      const relations = [...(await relationsOf(database, older)), ...(taken.get(older) ?? [])];
      if (relations.length > maxTaken) continue;
      gone.add(older);
      firstProposed = Math.min(firstProposed, label);
      const moved = relations
        .map(({ from, to, relation }) => ({
          from: from === older ? newer : from,
          to: to === older ? newer : to,
          relation,
        }))
        .filter(({ from, to }) => from !== to && !gone.has(from) && !gone.has(to));
      taken.set(newer, [...(taken.get(newer) ?? []), ...moved]);
      changes.push(
        { operation: "relate", from: newer, to: older, relation: "Updates" },
        ...moved.map((relation) => ({ operation: "relate" as const, ...relation })),
        { operation: "delete", id: older, reason: "merged" },
      );
    }
  }
  looked = Math.min(looked, firstProposed - 1);
  if (looked > after) await database.transaction((sql) => writeFact(sql, "merged", String(looked)));
  return changes;
}

/**
 * Returns the pairs in which nothing is lost with the older item: the same text, no field that the newer
 * lacks, no higher importance, no embedding of its own.
 */
async function duplicates(
  sql: Sql,
  label: number,
  others: readonly number[],
): Promise<readonly { older: string; newer: string }[]> {
  const pairs = await sql.all<{ older: string; newer: string; olderData: string; newerData: string }>(
    `WITH alike AS (
       SELECT i.*, v.label FROM knowledge_vectors v JOIN knowledge_items i ON i.item_row = v.item_row
       WHERE v.label = ? OR v.label IN ${numberList})
     SELECT o.id AS older, n.id AS newer, o.data AS "olderData", n.data AS "newerData"
     FROM alike o JOIN alike n ON o.item_row < n.item_row AND (o.label = ? OR n.label = ?)
     WHERE o.variant = n.variant AND o.words IS NOT DISTINCT FROM n.words AND o.importance <= n.importance
       AND NOT EXISTS (SELECT 1 FROM knowledge_vectors g WHERE g.item_row = o.item_row AND starts_with(g.space, 'given:'))
     ORDER BY o.item_row, n.item_row`,
    [label, JSON.stringify(others), label, label],
  );
  return pairs.filter(({ olderData, newerData }) => saysAllOf(newerData, olderData));
}

function saysAllOf(newerData: string, olderData: string): boolean {
  if (newerData === olderData) return true;
  const newer = fieldsOf(newerData);
  const older = fieldsOf(olderData);
  return (
    newer !== null &&
    older !== null &&
    Object.entries(older).every(
      ([name, value]) => Object.hasOwn(newer, name) && canonicalJson(newer[name]) === canonicalJson(value),
    )
  );
}

function fieldsOf(data: string): Readonly<Record<string, unknown>> | null {
  const value: unknown = JSON.parse(data);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
}

interface RelationRow {
  readonly from: string;
  readonly to: string;
  readonly relation: string;
}

/** Returns the relations of an item, in both directions, with items that exist. */
function relationsOf(sql: Sql, id: string): Promise<readonly RelationRow[]> {
  return sql.all(
    `SELECT from_id AS "from", to_id AS "to", relation FROM knowledge_relations r
     WHERE (from_id = ? AND EXISTS (SELECT 1 FROM knowledge_items i WHERE i.id = r.to_id))
        OR (to_id = ? AND EXISTS (SELECT 1 FROM knowledge_items i WHERE i.id = r.from_id))
     ORDER BY seq, from_id, to_id LIMIT ${maxTaken + 1}`,
    [id, id],
  );
}

/** Returns nothing if no policy asks for pruning. */
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

/** Deletes the labels of removed vectors once no saved index may contain them. */
export async function forgetGone(database: Database, spaces: readonly VectorSpace[]): Promise<void> {
  const seenByAll = Math.min(...spaces.map((space) => space.savedPosition));
  if (!Number.isFinite(seenByAll)) return;
  await database.run("DELETE FROM knowledge_vectors_gone WHERE position <= ?", [seenByAll]);
}
