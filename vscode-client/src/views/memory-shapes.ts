import { maxRelations } from "../../../kernel/src/base/vocabulary/bounds.ts";
import type { MemoryStats, ResultOf, SharedMemory } from "../protocol.ts";
import {
  maxDataCharacters,
  type Item,
  type Projections,
  type Shared,
  type TimelineEvent,
  type Witness,
} from "../webviews/memory/messages.ts";

type QueryResult = ResultOf<"lares/memory/query">;
export type EventResult = Extract<QueryResult, { total: number }>;
export type ItemResult = Exclude<
  Extract<QueryResult, { items: unknown[] }>,
  { total: number } | { mode: string }
>;
export type WorkingResult = Extract<QueryResult, { revision: number }>;
export type SearchResult = Extract<QueryResult, { mode: string }>;
type KernelItem = ItemResult["items"][number];

/** Returns data for a view: the data itself, or the beginning of its JSON if it is too large. */
export function shownData(data: unknown): { data: unknown; cut?: true } {
  const json = JSON.stringify(data);
  if (json === undefined || json.length <= maxDataCharacters) return { data };
  return { data: json.slice(0, maxDataCharacters), cut: true };
}

export function shownEvent({ id, variant, timestamp, data }: EventResult["items"][number]): TimelineEvent {
  return { id, variant, timestamp, ...shownData(data) };
}

export function shownItem(item: KernelItem): Item {
  const { id, variant, data, text, similarity, importance, relations, embedded } = item;
  return {
    id,
    variant,
    ...shownData(data),
    ...(text === undefined ? {} : { text }),
    ...(similarity === undefined ? {} : { similarity }),
    importance: Math.max(0, Math.min(1, importance)),
    relations: relations.slice(0, maxRelations),
    embedded,
  };
}

/** A search also returns events; only results with an item's members are items of knowledge. */
export function itemsIn({ items }: SearchResult): Item[] {
  return items.flatMap((found) => {
    if (found.kind !== "associative" || !isItem(found)) return [];
    return [shownItem(found)];
  });
}

function isItem(found: object): found is KernelItem {
  const { variant, importance, relations } = found as Partial<Record<keyof KernelItem, unknown>>;
  return typeof variant === "string" && typeof importance === "number" && Array.isArray(relations);
}

export function shownShared({ name, access, workspace }: SharedMemory): Shared {
  return {
    name,
    writable: access === "read_write",
    ...(workspace === undefined ? {} : { workspace: workspace.slice(0, 4_096) }),
  };
}

export function shownWitness({ records, head, sizeBytes, limitBytes, projections }: MemoryStats): Witness {
  return {
    records,
    head,
    sizeBytes,
    limitBytes,
    ...(projections === null ? {} : { projections: shownProjections(projections) }),
  };
}

function shownProjections(projections: NonNullable<MemoryStats["projections"]>): Projections {
  const { projected, temporal, knowledge, vectors, embedder, rebuilding, bytes } = projections;
  const { engine, dimensions, count, hot, warm, cold, pending, failed } = vectors;
  return {
    projected,
    events: temporal.events,
    ...(temporal.oldest === null ? {} : { oldest: temporal.oldest }),
    ...(temporal.newest === null ? {} : { newest: temporal.newest }),
    items: knowledge.items,
    relations: knowledge.relations,
    engine,
    dimensions,
    vectors: count,
    hot,
    warm,
    cold,
    pending,
    failed,
    embedder,
    ...(rebuilding === undefined ? {} : { rebuilding }),
    bytes,
  };
}
