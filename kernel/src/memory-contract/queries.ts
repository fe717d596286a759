import type { memoryFields, MemoryFields, MemoryResult } from "../base/vocabulary/memory-calls.ts";

/** The fields of a memory call without the one that names the memory. */
type Asked<Name extends keyof typeof memoryFields> = Omit<MemoryFields<Name>, "namespace">;

export type TemporalQuery = Asked<"temporalQuery">;
export type TemporalCountQuery = Asked<"temporalCount">;
/** Which events a query or a count is about. */
export type TemporalFilter = Omit<TemporalCountQuery, "group_by">;
/** A condition on a field of an item's data. */
export type Where = NonNullable<TemporalFilter["where"]>[number];
export type TemporalPage = MemoryResult<"temporalQuery">;
export type TemporalItem = TemporalPage["items"][number];
export type TemporalCount = MemoryResult<"temporalCount">;

export type KnowledgeAddition = Asked<"associativeAdd">;
/** The position of an event or an item among its neighbours, which help to find it. */
export type Place = Pick<KnowledgeAddition, "source" | "position">;
export type KnowledgeChange = Asked<"associativeUpdate">;
export type KnowledgeQuery = Asked<"associativeQuery">;
export type KnowledgeItem = MemoryResult<"associativeQuery">["items"][number];
export type Relation = KnowledgeItem["relations"][number];

export type SearchQuery = Asked<"search">;

/** One hit: an event or an item of knowledge, with the fields of the respective query. */
export type SearchHit = { readonly id: string; readonly score: number } & (
  ({ readonly kind: "temporal" } & TemporalItem) | ({ readonly kind: "associative" } & KnowledgeItem)
);

export interface SearchPage {
  readonly items: readonly SearchHit[];
  /** The mode that was used: `auto` is resolved. */
  readonly mode: "text" | "vector" | "hybrid";
}
