import type { Sql } from "../../projection/port.ts";
import { textList } from "../rows/schema.ts";

/**
 * Maximum items that a walk along relations finds: the nearest, and among equally near ones the first by id.
 */
export const maxWalkedItems = 10_000;
export const maxWalkDepth = 5;

/**
 * Returns the rows of all items within `depth` steps of an item, without the item itself, nearest first, then
 * by id. Follows relations in both directions, because a whole is as related to its parts as they are to it;
 * if a relation is named, only those. Passes only through items that exist: dangling relations lead nowhere.
 */
export async function relatedRows(
  sql: Sql,
  start: string,
  depth: number,
  relation?: string,
): Promise<number[]> {
  const named = relation === undefined ? "" : "AND r.relation = ?";
  const name = relation === undefined ? [] : [relation.toWellFormed()];
  const seen = new Set([start.toWellFormed()]);
  const rows: number[] = [];
  let frontier = [...seen];
  const [exists] = await sql.all("SELECT 1 AS found FROM knowledge_items WHERE id = ?", frontier);
  if (exists === undefined) return [];
  for (let step = 0; step < depth && frontier.length > 0 && rows.length < maxWalkedItems; step += 1) {
    const list = JSON.stringify(frontier);
    const found = await sql.all<{ id: string; item_row: number }>(
      `SELECT i.id, i.item_row FROM (
         SELECT r.to_id AS id FROM knowledge_relations r WHERE r.from_id IN ${textList} ${named}
         UNION SELECT r.from_id FROM knowledge_relations r WHERE r.to_id IN ${textList} ${named}
       ) n JOIN knowledge_items i ON i.id = n.id ORDER BY i.id LIMIT ${maxWalkedItems + seen.size}`,
      [list, ...name, list, ...name],
    );
    const unseen = found.filter(({ id }) => !seen.has(id)).slice(0, maxWalkedItems - rows.length);
    for (const { id, item_row: row } of unseen) {
      seen.add(id);
      rows.push(row);
    }
    frontier = unseen.map(({ id }) => id);
  }
  return rows;
}
