import type { Sql } from "../../projection/port.ts";
import { textList } from "../rows/schema.ts";

/** Items a walk along relations finds at most: the nearest, and among equally near ones the first by id. */
export const maxWalkedItems = 10_000;
export const maxWalkDepth = 5;

/**
 * The rows of all items within `depth` steps of one, nearest first, then by id; itself not among them. Relations are
 * walked in both directions: what a thing is part of is as related to it as its parts are. Where a relation is named,
 * only along those. A walk goes through items that are there: what is dangling leads nowhere.
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
