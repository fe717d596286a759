import type { JsonValue } from "../../base/json.ts";
import type { WrittenItem } from "../../memory-contract/store-port.ts";
import type { Sql } from "../projection/port.ts";
import { type AtRest, decodeVector } from "../vectors/quantize.ts";
import { textList } from "./rows/schema.ts";

const listOf = (ids: readonly string[]): string => JSON.stringify(ids.map((id) => id.toWellFormed()));

/** Returns which of these items exist, in the given order. */
export async function existingItems(sql: Sql, ids: readonly string[]): Promise<string[]> {
  const rows = await sql.all<{ id: string }>(`SELECT id FROM knowledge_items WHERE id IN ${textList}`, [
    listOf(ids),
  ]);
  const existing = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => existing.has(id));
}

/** Returns an item as it was written; null if there is none with this id. */
export async function writtenItem(sql: Sql, id: string): Promise<WrittenItem | null> {
  const [row] = await sql.all<{ variant: string; data: string; words: string | null; importance: number }>(
    "SELECT variant, data, words, importance FROM knowledge_items WHERE id = ?",
    [id.toWellFormed()],
  );
  if (row === undefined) return null;
  const { variant, data, words, importance } = row;
  return { variant, data: JSON.parse(data) as JsonValue, text: words, importance };
}

export interface VectorsPage {
  readonly dimensions: number;
  readonly items: readonly { readonly id: string; readonly base64F32: string }[];
  readonly isLast: boolean;
}

export interface VectorsPlace {
  readonly afterId: string | null;
  readonly limit: number;
  readonly changedBeforeMs: number;
}

/** Returns the embedder's vectors, by id. Embeddings that agents brought are in the journal. */
export async function vectorsPage(
  sql: Sql,
  space: { readonly name: string; readonly dimensions: number },
  { afterId, limit, changedBeforeMs }: VectorsPlace,
): Promise<VectorsPage> {
  const rows = await sql.all<AtRest & { id: string }>(
    `SELECT i.id, v.tier, v.bytes FROM knowledge_vectors v JOIN knowledge_items i ON i.item_row = v.item_row
     WHERE v.space = ? AND i.id > ? AND i.updated_ms < ? ORDER BY i.id LIMIT ${Math.trunc(limit) + 1}`,
    [space.name, afterId ?? "", changedBeforeMs],
  );
  const items: { id: string; base64F32: string }[] = [];
  for (const { id, ...atRest } of rows.slice(0, limit)) {
    const { buffer, byteOffset, byteLength } = decodeVector(atRest);
    items.push({ id, base64F32: Buffer.from(buffer, byteOffset, byteLength).toString("base64") });
  }
  return { dimensions: space.dimensions, items, isLast: rows.length <= limit };
}
