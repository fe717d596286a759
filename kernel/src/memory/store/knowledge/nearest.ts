import { embedQuery, givenVector, type KnowledgeView } from "./query.ts";
import { numberList } from "./schema.ts";

/** Neighbours looked at first; four times as many as long as none of them will do. */
const firstNeighbours = 16;

export interface NearestParams {
  readonly variant: string;
  readonly text?: string;
  readonly embedding?: readonly number[];
  readonly minSimilarity: number;
}

/**
 * The item of a variant most like what is about to be added. By what it brings, else by its words; null where none is
 * like enough, or where the embedder would keep the one who adds waiting. Throws InvalidParams for an embedding that
 * cannot be compared with those that are there.
 */
export async function nearestItem(
  view: KnowledgeView,
  { variant, text, embedding, minSimilarity }: NearestParams,
): Promise<{ id: string; similarity: number } | null> {
  const given = embedding === undefined ? null : givenVector(view, embedding);
  const space = given === null ? view.made : view.given;
  const canAskAtOnce = view.embedder?.isImmediate === true && text !== undefined && text.trim() !== "";
  const vector = given ?? (canAskAtOnce ? await embedQuery(view, text, "item") : null);
  if (space === null || vector === null) return null;
  for (let count = firstNeighbours; ; count *= 4) {
    const near = space.index.search(vector, count).filter(({ similarity }) => similarity > minSimilarity);
    const like = await view.database.all<{ id: string; label: number; item_row: number }>(
      `SELECT i.id, v.label, i.item_row FROM knowledge_vectors v JOIN knowledge_items i ON i.item_row = v.item_row
       WHERE v.label IN ${numberList} AND i.variant = ?`,
      [JSON.stringify(near.map(({ label }) => label)), variant.toWellFormed()],
    );
    const similarityOf = new Map(near.map(({ label, similarity }) => [label, similarity]));
    const [best] = like
      .map(({ id, label, item_row: row }) => ({
        id,
        row,
        similarity: similarityOf.get(label) ?? -1,
      }))
      .toSorted((a, b) => b.similarity - a.similarity || b.row - a.row);
    if (best !== undefined) return { id: best.id, similarity: best.similarity };
    if (near.length < count) return null;
  }
}
