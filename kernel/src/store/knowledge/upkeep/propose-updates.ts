import {
  type ProposedChange,
  type ProposedUpdates,
  updatesSimilarity,
} from "../../../memory-contract/store-port.ts";
import { type AtRest, decodeVector } from "../../vectors/quantize.ts";
import type { KnowledgeView } from "../search/query.ts";
import { comparedRow, setComparedRow } from "../rows/compared-row.ts";
import { numberList } from "../rows/schema.ts";

/** Items that one maintenance compares; the next one continues from there. */
const itemsLookedAt = 500;
const neighboursLookedAt = 16;

/**
 * Returns, for new items, the older items that they seem to update. Adding an item does not wait for this: each item is
 * compared once, when it and all items before it have their vectors. Skips items that name what they update, and items
 * that came with an embedding, which were compared when they were added. `gone`: items that are about to be removed.
 *
 * The kernel may end before it has journaled a proposal, so an item is compared again until the relation is in the
 * tables.
 */
export async function proposeUpdates(
  { database, made, embedder }: KnowledgeView,
  gone: ReadonlySet<string>,
): Promise<ProposedUpdates> {
  if (made === null || embedder === null) return { changes: [], isMore: false, isWaiting: true };
  const after = await comparedRow(database);
  const [rows] = await database.all<{ last: number; pending: number | null }>(
    `SELECT coalesce(max(item_row), 0) AS last,
       (SELECT min(item_row) FROM knowledge_queue WHERE state = 'pending') AS pending
     FROM knowledge_items`,
  );
  const through = rows?.pending == null ? (rows?.last ?? 0) : rows.pending - 1;
  const isWaiting = through < (rows?.last ?? 0);
  if (through <= after) return { changes: [], isMore: false, isWaiting };
  // A vector is in the tables a moment before it is in the index: without this, its row would count as
  // compared.
  await made.follow();
  const fresh = await database.all<AtRest & { id: string; item_row: number; variant: string; label: number }>(
    `SELECT i.id, i.item_row, i.variant, v.label, v.tier, v.bytes
       FROM knowledge_items i JOIN knowledge_vectors v ON v.item_row = i.item_row AND v.space = ?
       WHERE i.item_row > ? AND i.item_row <= ?
         AND NOT EXISTS (SELECT 1 FROM knowledge_relations r WHERE r.from_id = i.id AND r.relation = 'Updates')
         AND NOT EXISTS
           (SELECT 1 FROM knowledge_vectors g WHERE g.item_row = i.item_row AND starts_with(g.space, 'given:'))
       ORDER BY i.item_row LIMIT ${itemsLookedAt}`,
    [made.name, after, through],
  );
  const changes: ProposedChange[] = [];
  let firstChanged = Infinity;
  for (const { id, item_row: row, variant, label, ...atRest } of fresh) {
    if (gone.has(id)) continue;
    const vector = decodeVector(atRest);
    const similarityOf = new Map(
      made.index
        .search(vector, neighboursLookedAt)
        .filter((near) => near.label !== label && near.similarity > updatesSimilarity)
        .map((near) => [near.label, near.similarity]),
    );
    if (similarityOf.size === 0) continue;
    const older = await database.all<{ id: string; label: number; item_row: number }>(
      `SELECT i.id, v.label, i.item_row FROM knowledge_vectors v JOIN knowledge_items i ON i.item_row = v.item_row
       WHERE v.label IN ${numberList} AND i.variant = ? AND i.item_row < ?`,
      [JSON.stringify([...similarityOf.keys()]), variant, row],
    );
    const [best] = older
      .filter((item) => !gone.has(item.id))
      .map((item) => ({ ...item, similarity: similarityOf.get(item.label) ?? -1 }))
      .toSorted((a, b) => b.similarity - a.similarity || b.item_row - a.item_row);
    if (best === undefined) continue;
    changes.push({ operation: "relate", from: id, to: best.id, relation: "Updates" });
    firstChanged = Math.min(firstChanged, row);
  }
  const isAll = fresh.length < itemsLookedAt;
  const looked = isAll ? through : (fresh.at(-1)?.item_row ?? through);
  await database.transaction((sql) => setComparedRow(sql, Math.min(looked, firstChanged - 1)));
  return { changes, isMore: !isAll || changes.length > 0, isWaiting };
}
