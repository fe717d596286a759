import { isLaresError } from "../../../base/errors.ts";
import type { Nearest, NewItem } from "../../../memory-contract/store-port.ts";
import { dot, givenVector, type KnowledgeView } from "./query.ts";
import { numberList } from "../rows/schema.ts";
import type { VectorSpace } from "../embedding/vector-space.ts";

/** Neighbours examined first; four times as many each time, as long as none of them matches. */
const firstNeighbours = 16;
/** The maximum error of a similarity from an index, which stores numbers at reduced precision. */
const roundingError = 1e-3;

type Found = { readonly id: string; readonly similarity: number };

/** An item of the list with the embedding it brings; null if it brings none. */
interface Listed {
  readonly id: string;
  readonly variant: string;
  readonly given: Float32Array | null;
}

/**
 * Returns, for each item that is about to be added, the most similar item of its variant, among those that
 * exist and those before it in the list. Compares the embeddings that items bring. Among equally similar items,
 * the newest is returned.
 */
export async function nearestItems(
  view: KnowledgeView,
  items: readonly NewItem[],
  minSimilarity: number,
): Promise<readonly Nearest[]> {
  const answers: Nearest[] = [];
  const earlier: Listed[] = [];
  // The first item of a memory that brings an embedding sets the dimensions, also for the rest of the list.
  let dimensions = view.given?.options.dimensions ?? null;
  for (const { id, variant, embedding } of items) {
    try {
      const given = embedding === undefined ? null : givenVector(embedding, dimensions);
      dimensions = given?.length ?? dimensions;
      const item: Listed = { id, variant, given };
      answers.push(await nearestOf(view, item, earlier, minSimilarity));
      earlier.push(item);
    } catch (error) {
      if (!isLaresError(error, "InvalidParams")) throw error;
      answers.push({ refused: error.message, facts: error.facts });
    }
  }
  return answers;
}

async function nearestOf(
  view: KnowledgeView,
  { variant, given }: Listed,
  earlier: readonly Listed[],
  minSimilarity: number,
): Promise<Found | null> {
  if (given === null) return null;
  let best = view.given === null ? null : await nearestThere(view, view.given, given, variant, minSimilarity);
  for (const other of earlier) {
    if (other.variant !== variant || other.given === null) continue;
    const similarity = dot(given, other.given);
    if (similarity > minSimilarity && similarity >= (best?.similarity ?? -1) - roundingError)
      best = { id: other.id, similarity };
  }
  return best;
}

async function nearestThere(
  view: KnowledgeView,
  space: VectorSpace,
  vector: Float32Array,
  variant: string,
  minSimilarity: number,
): Promise<Found | null> {
  for (let count = firstNeighbours; ; count *= 4) {
    const near = space.index.search(vector, count).filter(({ similarity }) => similarity > minSimilarity);
    if (near.length === 0) return null;
    const like = await view.database.all<{ id: string; label: number; item_row: number }>(
      `SELECT i.id, v.label, i.item_row FROM knowledge_vectors v JOIN knowledge_items i ON i.item_row = v.item_row
       WHERE v.label IN ${numberList} AND i.variant = ?`,
      [JSON.stringify(near.map(({ label }) => label)), variant.toWellFormed()],
    );
    const similarityOf = new Map(near.map(({ label, similarity }) => [label, similarity]));
    const [best] = like
      .map(({ id, label, item_row: row }) => ({ id, row, similarity: similarityOf.get(label) ?? -1 }))
      .toSorted((a, b) => b.similarity - a.similarity || b.row - a.row);
    if (best !== undefined) return { id: best.id, similarity: best.similarity };
    if (near.length < count) return null;
  }
}
