import type { JsonValue } from "../../../base/json.ts";
import type { KnowledgeItem, Relation } from "../../../memory-contract/queries.ts";
import type { Sql } from "../../projection/port.ts";
import { effectiveImportance } from "./importance.ts";
import { numberList, textList } from "../rows/schema.ts";

/** Maximum relations of one item in an answer, the oldest first. */
const maxToldRelations = 1_000;

/**
 * The columns that importance needs, over the items `i` that a condition selects. Efficient for many items.
 */
export const factorsSql = (condition: string): string =>
  `SELECT i.*, coalesce(a.accesses, 0) AS accesses, greatest(i.updated_ms, coalesce(a.last_ms, 0)) AS fresh_ms,
     coalesce(r.relations, 0) AS relations
   FROM knowledge_items i
   LEFT JOIN knowledge_accesses a ON a.item_row = i.item_row
   LEFT JOIN (
     SELECT id, count(*) AS relations FROM (
       SELECT from_id AS id FROM knowledge_relations UNION ALL SELECT to_id FROM knowledge_relations
     ) GROUP BY id
   ) r ON r.id = i.id
   WHERE ${condition}`;

export interface FactorsRow {
  readonly item_row: number;
  readonly id: string;
  readonly variant: string;
  readonly data: string;
  readonly words: string | null;
  readonly importance: number;
  readonly created_ms: number;
  readonly accesses: number;
  readonly fresh_ms: number;
  readonly relations: number;
}

export interface FoundRow {
  readonly row: number;
  readonly similarity?: number;
}

/**
 * Returns the items of these rows in the form of an answer, in the same order, without those that were
 * removed meanwhile.
 */
export async function hydrate(
  sql: Sql,
  found: readonly FoundRow[],
  nowMs: number,
): Promise<{ row: number; item: KnowledgeItem }[]> {
  if (found.length === 0) return [];
  const list = JSON.stringify(found.map(({ row }) => row));
  const rows = await sql.all<Omit<FactorsRow, "relations"> & { embedded: boolean }>(
    `SELECT i.*, coalesce(a.accesses, 0) AS accesses, greatest(i.updated_ms, coalesce(a.last_ms, 0)) AS fresh_ms,
       i.item_row IN (SELECT item_row FROM knowledge_vectors WHERE item_row IN ${numberList}) AS embedded
     FROM (SELECT * FROM knowledge_items WHERE item_row IN ${numberList}) i
     LEFT JOIN knowledge_accesses a ON a.item_row = i.item_row`,
    [list, list],
  );
  const ids = JSON.stringify(rows.map(({ id }) => id));
  const going = await goingOut(sql, ids);
  const coming = await comingIn(sql, ids);
  const byRow = new Map(rows.map((row) => [row.item_row, row]));
  return found.flatMap(({ row, similarity }) => {
    const item = byRow.get(row);
    if (item === undefined) return [];
    const out = going.get(item.id);
    return [
      {
        row,
        item: {
          id: item.id,
          variant: item.variant,
          data: JSON.parse(item.data) as JsonValue,
          ...(item.words === null ? {} : { text: item.words }),
          ...(similarity === undefined ? {} : { similarity }),
          importance: effectiveOf(
            { ...item, relations: (out?.count ?? 0) + (coming.get(item.id) ?? 0) },
            nowMs,
          ),
          relations: out?.listed ?? [],
          embedded: item.embedded,
        },
      },
    ];
  });
}

export const effectiveOf = (item: FactorsRow, nowMs: number): number =>
  effectiveImportance(
    {
      variant: item.variant,
      explicit: item.importance,
      freshMs: item.fresh_ms,
      accesses: item.accesses,
      relations: item.relations,
    },
    nowMs,
  );

async function goingOut(
  sql: Sql,
  ids: string,
): Promise<Map<string, { readonly listed: Relation[]; readonly count: number }>> {
  const rows = await sql.all<{ from_id: string; to_id: string; relation: string; count: number }>(
    `SELECT from_id, to_id, relation, count(*) OVER (PARTITION BY from_id) AS count
     FROM knowledge_relations WHERE from_id IN ${textList}
     QUALIFY row_number() OVER (PARTITION BY from_id ORDER BY seq, to_id, relation) <= ${maxToldRelations}
     ORDER BY seq, to_id, relation`,
    [ids],
  );
  const going = new Map<string, { listed: Relation[]; count: number }>();
  for (const { from_id: from, to_id: to, relation, count } of rows) {
    const known = going.get(from);
    if (known === undefined) going.set(from, { listed: [{ to, relation }], count });
    else known.listed.push({ to, relation });
  }
  return going;
}

async function comingIn(sql: Sql, ids: string): Promise<Map<string, number>> {
  const rows = await sql.all<{ to_id: string; count: number }>(
    `SELECT to_id, count(*) AS count FROM knowledge_relations WHERE to_id IN ${textList} GROUP BY to_id`,
    [ids],
  );
  return new Map(rows.map(({ to_id: id, count }) => [id, count]));
}
