import { invalidParams, LaresError } from "../../../base/errors.ts";
import type { SearchHit, SearchPage, SearchQuery, TemporalItem } from "../../../memory-contract/queries.ts";
import type { TextKind } from "../../projection/port.ts";
import { timesIn } from "../../projection/times.ts";
import { hydrate } from "./hydrate.ts";
import { dot, embedQuery, type KnowledgeView, similarRows } from "./query.ts";
import { numberList } from "../rows/schema.ts";
import type { VectorSpace } from "../embedding/vector-space.ts";

interface SearchView extends KnowledgeView {
  events(rows: readonly number[]): Promise<ReadonlyMap<number, TemporalItem>>;
}

const maxSearchLimit = 1_000;
const defaultSearchLimit = 10;
/** Minimum candidates from each ranking: a hit far down in one may be far up in another. */
const leastCandidates = 100;
/** Number of hits whose neighbours are looked up. */
const hitsWithNeighbours = 5;
const maxNeighbours = 50;
/** The constant of reciprocal rank fusion: the larger, the less the first rank differs from the next. */
const rankOffset = 10;
/**
 * Weights of the fused lists. Similarity has less weight, depending on what the embedder knows
 * (`similarityWeight`).
 */
const weights = { words: 2, likeness: 1, relations: 1 } as const;
/** The share of its neighbours' similarity that an item gets in addition to its own. */
const neighbourLikeness = 0.4;

/** Events and items share one sequence of rows, so a row identifies either. */
interface Hit {
  readonly kind: TextKind;
  readonly row: number;
  readonly score: number;
}

interface Ranking {
  readonly hits: readonly Hit[];
  readonly weight: number;
}

/**
 * Searches events and items, and scores hits by Σ weight/(10 + rank).
 *
 * - `text`: the full-text rankings of events and of items, weight 2 each.
 * - `hybrid`: also the items by similarity (events are not embedded), weight 1 or as little as the embedder
 *   adds to the words; and the best items, each followed by the items related to it, weight 1, if there are
 *   any. So a related item is found, but not before the hit itself.
 * - `vector`: items by similarity, which is their score.
 *
 * If scores are equal, the newest comes first.
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
  if (done === "vector") {
    const similar = vector === null ? [] : await similarHits(view, vector, count);
    return answered(view, similar.slice(0, limit), done, nowMs);
  }
  const rankings = await wordedRankings(view, text, count, nowMs);
  if (done === "hybrid") {
    const weight = similarityWeight(view, text);
    if (weight > 0 && vector !== null) {
      rankings.push({ weight, hits: await likelyHits(view, vector, count) });
    }
    const best = fuse(rankings).filter(({ kind }) => kind === "knowledge");
    const related = await withNeighbours(view, best.slice(0, hitsWithNeighbours));
    rankings.push({ weight: weights.relations, hits: related });
  }
  const hits = fuse(rankings);
  return answered(view, hits.slice(0, limit), done, nowMs);
}

const noVectors = (): LaresError =>
  new LaresError(
    "VectorSearchNotConfigured",
    "No embedder answers. Search with mode text or auto, or set memory.embedder.",
  );

/** Events and items are ranked separately: how rare a word is among events says nothing about items. */
async function wordedRankings(
  view: SearchView,
  words: string,
  count: number,
  nowMs: number,
): Promise<Ranking[]> {
  const times = await timesIn(words, nowMs);
  return (["temporal", "knowledge"] as const).map((kind) => ({
    weight: weights.words,
    hits: view.text
      .best(kind, words, { limit: count, times })
      .map(({ row, score }) => ({ kind, row, score })),
  }));
}

/**
 * Returns the weight of similarity. An embedder that knows meanings adds something to every question. One
 * that knows only spellings adds much if most words of the question occur in no item, and almost nothing if
 * all of them do.
 */
const similarityWeight = (view: SearchView, words: string): number =>
  weights.likeness *
  (view.embedder?.knows === "meanings" ? 1 : view.text.unknownPart("knowledge", words) ** 2);

/** Returns items by similarity; each item's is raised by the similarity of its neighbours. */
async function likelyHits(view: SearchView, vector: Float32Array, count: number): Promise<Hit[]> {
  const similar = await similarHits(view, vector, count);
  const { made } = view;
  if (made === null) return similar;
  const neighbours = view.text.neighbours(similar.map(({ row }) => row));
  const scores = new Map(similar.map(({ row, score }) => [row, score]));
  const beside = [...neighbours.values()].flatMap((all) => all.map(({ row }) => row));
  const missing = [...new Set(beside)].filter((row) => !scores.has(row));
  for (const [row, score] of await similarities(view, made, vector, missing)) scores.set(row, score);
  return inOrder(
    [...scores].map(([row, score]) => {
      const next = (neighbours.get(row) ?? [])
        .filter(({ steps }) => steps === 1)
        .map((neighbour) => scores.get(neighbour.row) ?? 0);
      const mean = next.length === 0 ? score : next.reduce((sum, each) => sum + each, 0) / next.length;
      return { kind: "knowledge" as const, row, score: score + neighbourLikeness * mean };
    }),
  );
}

async function similarities(
  view: SearchView,
  made: VectorSpace,
  vector: Float32Array,
  rows: readonly number[],
): Promise<[row: number, similarity: number][]> {
  if (rows.length === 0) return [];
  const labels = await view.database.all<{ label: number; item_row: number }>(
    `SELECT label, item_row FROM knowledge_vectors WHERE space = ? AND item_row IN ${numberList}`,
    [made.name, JSON.stringify(rows)],
  );
  return labels.flatMap(({ label, item_row: row }) => {
    const other = made.index.vectorOf(label);
    return other === null ? [] : [[row, dot(vector, other)] as [number, number]];
  });
}

async function similarHits(view: SearchView, vector: Float32Array, count: number): Promise<Hit[]> {
  if (view.made === null) return [];
  const found = await similarRows(view, view.made, vector, count, -1, null);
  return found.map(({ row, similarity = 0 }) => ({ kind: "knowledge", row, score: similarity }));
}

function fuse(rankings: readonly Ranking[]): Hit[] {
  const scores = new Map<number, Hit>();
  for (const { hits, weight } of rankings) {
    for (const [index, { kind, row }] of hits.entries()) {
      const score = (scores.get(row)?.score ?? 0) + weight / (rankOffset + index + 1);
      scores.set(row, { kind, row, score });
    }
  }
  return inOrder([...scores.values()]);
}

const inOrder = (hits: readonly Hit[]): Hit[] => hits.toSorted((a, b) => b.score - a.score || b.row - a.row);

/**
 * Returns each hit followed by its related items in both directions, the newest first, everything once.
 * Returns nothing if no hit has a related item: the hits alone would only repeat the other rankings.
 */
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
  if (found.length === 0) return [];
  const newestFirst = found.toSorted((a, b) => b.row - a.row);
  const ranked = rows.flatMap((row) => [
    row,
    ...newestFirst.filter(({ from_row: from }) => from === row).map(({ row: neighbour }) => neighbour),
  ]);
  return [...new Set(ranked)]
    .slice(0, rows.length + maxNeighbours)
    .map((row) => ({ kind: "knowledge", row, score: 0 }));
}

async function answered(
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
  const answers = hits.flatMap(({ kind, row, score }): SearchHit[] => {
    const event = kind === "temporal" ? events.get(row) : undefined;
    const item = kind === "knowledge" ? items.get(row) : undefined;
    if (event !== undefined) return [{ ...event, kind: "temporal", score }];
    if (item !== undefined) return [{ ...item, kind: "associative", score }];
    return [];
  });
  return { page: { items: answers, mode }, rows: [...items.keys()] };
}
