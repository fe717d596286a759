import { invalidParams } from "../../../base/errors.ts";
import type { KnowledgeItem, KnowledgeQuery, Where } from "../../../memory-contract/queries.ts";
import { type Embedder, EmbeddingError } from "../../embedding/port.ts";
import type { SqlValue, TextIndex } from "../../projection/port.ts";
import { whereSql } from "../../projection/where.ts";
import type { EngineName } from "../../../memory-contract/store-settings.ts";
import { unitVector } from "../embedding/given.ts";
import { maxWalkDepth, relatedRows } from "./graph.ts";
import { factorsSql, type FoundRow, hydrate } from "./hydrate.ts";
import { importanceSql } from "./importance.ts";
import { type Database, numberList } from "../rows/schema.ts";
import { maxEmbeddedCharacters } from "../rows/words.ts";
import type { VectorSpace } from "../embedding/vector-space.ts";

/** What a query works on. It is fixed when the query begins, whatever the background work changes. */
export interface KnowledgeView {
  readonly database: Database;
  readonly text: TextIndex;
  /** Null if nothing can be embedded now. */
  readonly embedder: Embedder | null;
  /** The vectors that `embedder` made. */
  readonly made: VectorSpace | null;
  /** The vectors that agents brought; null if there are none. */
  readonly given: VectorSpace | null;
}

const maxTopK = 1_000;
const defaultTopK = 10;
/**
 * Up to this number of vectors, a filtered search compares them one by one: a graph search would mostly visit
 * vectors that the filter rejects.
 */
const comparedDirectly = 10_000;
/** Limits of how many nearest vectors are examined to find those that pass a filter. */
const leastLookedAt = 64;
const mostLookedAt = 4_096;
/** Maximum of the best hits by words that are examined for those that pass a filter. */
const maxFallbackRows = 10_000;

interface Filter {
  /** A condition over `knowledge_items i`. */
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

/**
 * Returns the answer to a query: by similarity if it asks for one (of equally similar items, the newest
 * first), else by importance, then the newest first. If the text to compare with cannot be embedded, by
 * words, without a similarity.
 */
export async function queryKnowledge(
  view: KnowledgeView,
  query: KnowledgeQuery,
  nowMs: number,
): Promise<{ row: number; item: KnowledgeItem }[]> {
  const count = checkedCount(query.top_k);
  if (query.similar_to !== undefined && query.embedding !== undefined) {
    throw invalidParams("similar_to and embedding cannot be combined. Use one of them.");
  }
  const filter = await filterOf(view, query);
  const found = await foundRows(view, query, filter, count, nowMs);
  return hydrate(view.database, found, nowMs);
}

async function foundRows(
  view: KnowledgeView,
  query: KnowledgeQuery,
  filter: Filter | null,
  count: number,
  nowMs: number,
): Promise<FoundRow[]> {
  const least = query.min_similarity ?? -1;
  if (query.embedding !== undefined) {
    const vector = givenVector(query.embedding, view.given?.options.dimensions ?? null);
    return view.given === null ? [] : similarRows(view, view.given, vector, count, least, filter);
  }
  if (query.similar_to === undefined) return importantRows(view, filter, count, nowMs);
  if (query.similar_to.trim() === "") return [];
  const vector = await embedQuery(view, query.similar_to);
  return vector === null || view.made === null
    ? wordedRows(view, query.similar_to, filter, count)
    : similarRows(view, view.made, vector, count, least, filter);
}

/**
 * Returns a unit vector. Throws InvalidParams if embeddings were brought before with other dimensions; the
 * message names them.
 */
export function givenVector(embedding: readonly number[], expected: number | null): Float32Array {
  const vector = unitVector(embedding);
  if (expected !== null && vector.length !== expected) {
    throw invalidParams(
      `The embeddings in this memory have ${expected} dimensions; this one has ${vector.length}.`,
      { expected, got: vector.length },
    );
  }
  return vector;
}

/** Returns the vector of a text; null if the embedder cannot answer. */
export async function embedQuery(view: KnowledgeView, words: string): Promise<Float32Array | null> {
  const { embedder } = view;
  if (embedder === null) return null;
  try {
    const [vector] = await embedder.embed([words.slice(0, maxEmbeddedCharacters).toWellFormed()], "query");
    return vector?.length === embedder.dimensions ? vector : null;
  } catch (error) {
    if (!(error instanceof EmbeddingError)) throw error;
    return null;
  }
}

async function filterOf(view: KnowledgeView, query: KnowledgeQuery): Promise<Filter | null> {
  const parts: Filter[] = [];
  if (query.variant !== undefined) {
    parts.push({ sql: "i.variant = ?", params: [query.variant.toWellFormed()] });
  }
  if (query.where !== undefined && query.where.length > 0) parts.push(conditionsOf(query.where));
  if (query.related_to !== undefined) {
    const { id, depth = 1, relation } = query.related_to;
    if (!Number.isInteger(depth) || depth < 1 || depth > maxWalkDepth) {
      throw invalidParams(`related_to.depth is a whole number from 1 to ${maxWalkDepth}.`);
    }
    const rows = await relatedRows(view.database, id, depth, relation);
    parts.push({ sql: `i.item_row IN ${numberList}`, params: [JSON.stringify(rows)] });
  }
  if (parts.length === 0) return null;
  return {
    sql: parts.map(({ sql }) => `(${sql})`).join(" AND "),
    params: parts.flatMap(({ params }) => params),
  };
}

const conditionsOf = (where: readonly Where[]): Filter => whereSql(where, "i.data");

export async function similarRows(
  view: KnowledgeView,
  space: VectorSpace,
  vector: Float32Array,
  count: number,
  minSimilarity: number,
  filter: Filter | null,
): Promise<FoundRow[]> {
  const found =
    filter === null
      ? await nearestOfAll(view, space, vector, count)
      : ((await nearestThatPass(view, space, vector, count, filter)) ??
        (await nearestOfSome(view, space, vector, count, filter)));
  return inOrder(found.filter(({ similarity }) => similarity >= minSimilarity)).slice(0, count);
}

type Similar = { readonly row: number; readonly similarity: number };

async function nearestOfAll(
  view: KnowledgeView,
  space: VectorSpace,
  vector: Float32Array,
  count: number,
): Promise<Similar[]> {
  const near = space.index.search(vector, count);
  const rows = await view.database.all<{ label: number; item_row: number }>(
    `SELECT label, item_row FROM knowledge_vectors WHERE label IN ${numberList}`,
    [JSON.stringify(near.map(({ label }) => label))],
  );
  const rowOf = new Map(rows.map(({ label, item_row: row }) => [label, row]));
  return near.flatMap(({ label, similarity }) => {
    const row = rowOf.get(label);
    return row === undefined ? [] : [{ row, similarity }];
  });
}

/**
 * Examines the nearest vectors, then more of them, as many as should suffice according to how many passed.
 * Returns null if the filter passes too few for that.
 */
async function nearestThatPass(
  view: KnowledgeView,
  space: VectorSpace,
  vector: Float32Array,
  count: number,
  filter: Filter,
): Promise<Similar[] | null> {
  let wanted = Math.max(leastLookedAt, 4 * count);
  while (wanted <= mostLookedAt) {
    const near = space.index.search(vector, wanted);
    const rows = await view.database.all<{ label: number; item_row: number }>(
      `SELECT v.label, v.item_row FROM knowledge_vectors v JOIN knowledge_items i ON i.item_row = v.item_row
       WHERE v.label IN ${numberList} AND ${filter.sql}`,
      [JSON.stringify(near.map(({ label }) => label)), ...filter.params],
    );
    if (rows.length >= count || near.length < wanted) {
      const rowOf = new Map(rows.map(({ label, item_row: row }) => [label, row]));
      return near.flatMap(({ label, similarity }) => {
        const row = rowOf.get(label);
        return row === undefined ? [] : [{ row, similarity }];
      });
    }
    if (rows.length === 0) return null;
    wanted = Math.ceil((1.5 * wanted * count) / rows.length);
  }
  return null;
}

async function nearestOfSome(
  view: KnowledgeView,
  space: VectorSpace,
  vector: Float32Array,
  count: number,
  filter: Filter,
): Promise<Similar[]> {
  // As doubles: reading a hundred thousand big integers is slow.
  const labels = await view.database.all<{ label: number; row: number }>(
    `SELECT CAST(v.label AS DOUBLE) AS label, CAST(v.item_row AS DOUBLE) AS row
     FROM knowledge_vectors v JOIN knowledge_items i ON i.item_row = v.item_row
     WHERE v.space = ? AND ${filter.sql}`,
    [space.name, ...filter.params],
  );
  if (!isGraph(space.index.shape.engine) || labels.length > comparedDirectly) {
    const rowOf = new Map(labels.map(({ label, row }) => [label, row]));
    return space.index
      .search(vector, count, (label) => rowOf.has(label))
      .map(({ label, similarity }) => ({ row: rowOf.get(label) ?? 0, similarity }));
  }
  return labels.flatMap(({ label, row }) => {
    const other = space.index.vectorOf(label);
    return other === null ? [] : [{ row, similarity: dot(vector, other) }];
  });
}

const isGraph = (engine: EngineName): boolean => engine !== "exact";

/** Returns the similarity of two unit vectors, -1 to 1. */
export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index += 1) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return Math.min(1, Math.max(-1, sum));
}

const inOrder = (found: readonly Similar[]): Similar[] =>
  found.toSorted((a, b) => b.similarity - a.similarity || b.row - a.row);

async function importantRows(
  view: KnowledgeView,
  filter: Filter | null,
  count: number,
  nowMs: number,
): Promise<FoundRow[]> {
  return view.database.all<{ row: number }>(
    `SELECT CAST(item_row AS DOUBLE) AS row FROM (${factorsSql(filter?.sql ?? "true")})
     ORDER BY ${importanceSql(nowMs)} DESC, item_row DESC LIMIT ${count}`,
    filter?.params ?? [],
  );
}

/** By BM25, for queries whose text cannot be embedded. */
async function wordedRows(
  view: KnowledgeView,
  words: string,
  filter: Filter | null,
  count: number,
): Promise<FoundRow[]> {
  const best = view.text.best("knowledge", words, {
    limit: filter === null ? count : maxFallbackRows,
    isAlone: true,
  });
  if (filter === null || best.length === 0) return best.map(({ row }) => ({ row }));
  const passing = await view.database.all<{ row: number }>(
    `SELECT CAST(i.item_row AS DOUBLE) AS row FROM knowledge_items i
     WHERE i.item_row IN ${numberList} AND ${filter.sql}`,
    [JSON.stringify(best.map(({ row }) => row)), ...filter.params],
  );
  const passed = new Set(passing.map(({ row }) => row));
  return best
    .filter(({ row }) => passed.has(row))
    .slice(0, count)
    .map(({ row }) => ({ row }));
}

function checkedCount(count: number = defaultTopK): number {
  if (!Number.isInteger(count) || count < 1 || count > maxTopK) {
    throw invalidParams(`top_k is a whole number from 1 to ${maxTopK.toLocaleString("en")}.`);
  }
  return count;
}
