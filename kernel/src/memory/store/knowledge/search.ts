import { invalidParams, LaresError } from "../../../base/errors.ts";
import type { SearchHit, SearchPage, SearchQuery, TemporalItem } from "../../queries.ts";
import type { TextKind } from "../projection/port.ts";
import { hydrate } from "./hydrate.ts";
import { embedQuery, type KnowledgeView, similarRows } from "./query.ts";
import { numberList } from "./schema.ts";

export interface SearchView extends KnowledgeView {
  events(rows: readonly number[]): Promise<ReadonlyMap<number, TemporalItem>>;
}

export const maxSearchLimit = 1_000;
const defaultSearchLimit = 10;
/** What each way of looking brings in at least: what is far down in one may be far up in another. */
const leastCandidates = 100;
/** Hits whose neighbours are looked at. */
const hitsWithNeighbours = 10;
const maxNeighbours = 50;
/** Reciprocal rank fusion: how little the very first differs from the next. */
const rankOffset = 60;

/** Seqs are rows of both kinds, and never two of the same. */
interface Hit {
  readonly kind: TextKind;
  readonly row: number;
  readonly score: number;
}

/**
 * One search over events and items, by Σ 1/(60 + rank): `text` over what BM25 brings of events, and of items; `hybrid`
 * besides over items by similarity (events are not embedded), and by how near they are to the best items along
 * relations: each of these, followed by its neighbours. So who is related to a hit is found, and not before it.
 * `vector`: items by similarity, which is their score. What scores the same: the newest first.
 */
export async function search(
  view: SearchView,
  query: SearchQuery,
  nowMs: number,
): Promise<{ page: SearchPage; rows: readonly number[] }> {
  const { text, mode = "auto", limit = defaultSearchLimit } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > maxSearchLimit) {
    throw invalidParams(`limit is a whole number from 1 to ${maxSearchLimit.toLocaleString("en")}.`);
  }
  const isBlank = text.trim() === "";
  const vector = mode === "text" || isBlank ? null : await embedQuery(view, text);
  if (mode === "vector" && vector === null && !(isBlank && view.embedder !== null)) throw noVectors();
  const count = Math.max(leastCandidates, limit);
  const done = mode === "vector" ? "vector" : vector === null ? "text" : "hybrid";
  if (isBlank) return { page: { items: [], mode: done }, rows: [] };
  const worded = done === "vector" ? [] : wordedHits(view, text, count);
  const similar = vector === null ? [] : await similarHits(view, vector, count);
  const hits =
    done === "vector" ? similar : done === "text" ? fuse(worded) : await fused(view, [...worded, similar]);
  return told(view, hits.slice(0, limit), done, nowMs);
}

const noVectors = (): LaresError =>
  new LaresError(
    "VectorSearchNotConfigured",
    "There is no embedder that answers; search with mode text, or auto, or set memory.embedder.",
  );

/** Events and items each by themselves: how rare a word is among the ones says nothing about the others. */
const wordedHits = (view: SearchView, words: string, count: number): Hit[][] =>
  (["temporal", "knowledge"] as const).map((kind) =>
    view.text.best(kind, words, count).map(({ row, score }) => ({ kind, row, score })),
  );

async function similarHits(view: SearchView, vector: Float32Array, count: number): Promise<Hit[]> {
  if (view.made === null) return [];
  const found = await similarRows(view, view.made, vector, count, -1, null);
  return found.map(({ row, similarity = 0 }) => ({ kind: "knowledge", row, score: similarity }));
}

async function fused(view: SearchView, lists: readonly (readonly Hit[])[]): Promise<Hit[]> {
  const best = fuse(lists);
  const items = best.filter(({ kind }) => kind === "knowledge").slice(0, hitsWithNeighbours);
  return fuse([...lists, await withNeighbours(view, items)]);
}

function fuse(lists: readonly (readonly Hit[])[]): Hit[] {
  const scores = new Map<number, Hit>();
  for (const list of lists) {
    for (const [index, { kind, row }] of list.entries()) {
      const score = (scores.get(row)?.score ?? 0) + 1 / (rankOffset + index + 1);
      scores.set(row, { kind, row, score });
    }
  }
  return inOrder([...scores.values()]);
}

const inOrder = (hits: readonly Hit[]): Hit[] => hits.toSorted((a, b) => b.score - a.score || b.row - a.row);

/** Each hit, then its neighbours along relations in both directions, the newest first; everybody once. */
async function withNeighbours(view: SearchView, hits: readonly Hit[]): Promise<Hit[]> {
  if (hits.length === 0) return [];
  const rows = hits.map(({ row }) => row);
  const list = JSON.stringify(rows);
  const found = await view.database.all<{ from_row: number; row: number }>(
    `WITH best AS (SELECT id, item_row FROM knowledge_items WHERE item_row IN ${numberList}),
       linked AS (
         SELECT b.item_row AS from_row, r.to_id AS id FROM knowledge_relations r JOIN best b ON r.from_id = b.id
         UNION SELECT b.item_row, r.from_id FROM knowledge_relations r JOIN best b ON r.to_id = b.id)
     SELECT CAST(l.from_row AS DOUBLE) AS from_row, CAST(i.item_row AS DOUBLE) AS row
     FROM linked l JOIN knowledge_items i ON i.id = l.id WHERE i.item_row <> l.from_row
     QUALIFY row_number() OVER (PARTITION BY l.from_row ORDER BY i.item_row DESC) <= ${maxNeighbours}`,
    [list],
  );
  const newestFirst = found.toSorted((a, b) => b.row - a.row);
  const ranked = rows.flatMap((row) => [
    row,
    ...newestFirst.filter(({ from_row: from }) => from === row).map(({ row: neighbour }) => neighbour),
  ]);
  return [...new Set(ranked)]
    .slice(0, rows.length + maxNeighbours)
    .map((row) => ({ kind: "knowledge", row, score: 0 }));
}

async function told(
  view: SearchView,
  hits: readonly Hit[],
  mode: SearchPage["mode"],
  nowMs: number,
): Promise<{ page: SearchPage; rows: readonly number[] }> {
  const rowsOf = (wanted: TextKind): number[] =>
    hits.filter(({ kind }) => kind === wanted).map(({ row }) => row);
  const events = await view.events(rowsOf("temporal"));
  const found = await hydrate(
    view.database,
    rowsOf("knowledge").map((row) => ({ row })),
    nowMs,
  );
  const items = new Map(found.map(({ row, item }) => [row, item]));
  const told = hits.flatMap(({ kind, row, score }): SearchHit[] => {
    const event = kind === "temporal" ? events.get(row) : undefined;
    const item = kind === "knowledge" ? items.get(row) : undefined;
    if (event !== undefined) return [{ ...event, kind: "temporal", score }];
    if (item !== undefined) return [{ ...item, kind: "associative", score }];
    return [];
  });
  return { page: { items: told, mode }, rows: [...items.keys()] };
}
