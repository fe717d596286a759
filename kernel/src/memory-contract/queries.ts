import type { JsonValue } from "../base/json.ts";

/**
 * What can be asked of a memory. The wire's forms (`base/vocabulary/memory-calls.ts`) have the same structure and the same
 * names, so that nothing has to be renamed on the way.
 */

/** A condition on a field of an item's data; `field` is dotted: "a.b.c". */
export interface Where {
  readonly field: string;
  readonly op: "eq" | "ne" | "in" | "gt" | "gte" | "lt" | "lte" | "contains" | "near";
  readonly value: JsonValue;
  /** Radius of "near", whose value is [latitude, longitude]. */
  readonly km?: number;
}

export interface TemporalFilter {
  readonly variant?: string;
  /** ISO 8601 or an age ("7d"); inclusive. */
  readonly since?: string;
  /** ISO 8601 or an age; exclusive. */
  readonly until?: string;
  /** Full text: in one field of the data, or anywhere in it. */
  readonly text?: { readonly field?: string; readonly match: string };
  readonly where?: readonly Where[];
}

export interface TemporalQuery extends TemporalFilter {
  /** By timestamp, then by order of appending; default "desc". */
  readonly order?: "asc" | "desc";
  /** 1 to 1,000; default 100. */
  readonly limit?: number;
  readonly offset?: number;
}

export interface TemporalItem {
  readonly id: string;
  readonly variant: string;
  /** UTC, ISO 8601 with milliseconds. */
  readonly timestamp: string;
  readonly data: JsonValue;
}

export interface TemporalPage {
  readonly items: readonly TemporalItem[];
  /** All that match, not only this page. */
  readonly total: number;
}

export interface TemporalCountQuery extends TemporalFilter {
  readonly group_by?: "variant" | "hour" | "day";
}

export interface TemporalCount {
  readonly count: number;
  /** By variant, or by the interval's beginning as an ISO time. */
  readonly groups?: Readonly<Record<string, number>>;
}

export interface Relation {
  readonly to: string;
  /** RelatedTo, Updates, Contradicts, CausedBy, PartOf, or the agent's own. */
  readonly relation: string;
}

/** Where an event or an item stands among the others of its kind: what is next to it helps to find it. */
export interface Place {
  /** Names the whole that it belongs to, such as a conversation or a file; 1 to 256 characters. */
  readonly source?: string;
  /** Its place in the source; default: by time. */
  readonly position?: number;
}

export interface KnowledgeAddition extends Place {
  /** When it was said or happened, ISO 8601, with "Z" or an offset; default now. */
  readonly timestamp?: string;
  readonly variant: string;
  readonly data: JsonValue;
  /** What is embedded and searched; default: the words in `data`. */
  readonly text?: string;
  readonly embedding?: readonly number[];
  /** 0 to 1; default 0.5. */
  readonly importance?: number;
  readonly relations?: readonly Relation[];
}

export interface KnowledgeChange {
  readonly id: string;
  readonly variant?: string;
  readonly data?: JsonValue;
  readonly text?: string;
  readonly embedding?: readonly number[];
  readonly importance?: number;
}

export interface KnowledgeQuery {
  readonly similar_to?: string;
  readonly embedding?: readonly number[];
  readonly variant?: string;
  readonly where?: readonly Where[];
  readonly related_to?: { readonly id: string; readonly depth?: number; readonly relation?: string };
  readonly min_similarity?: number;
  /** 1 to 1,000; default 10. */
  readonly top_k?: number;
}

export interface KnowledgeItem {
  readonly id: string;
  readonly variant: string;
  readonly data: JsonValue;
  readonly text?: string;
  /** Cosine, -1 to 1; only where the query asked for similarity. */
  readonly similarity?: number;
  /** Effective: the explicit value, decayed, raised by access and by relations. 0 to 1. */
  readonly importance: number;
  readonly relations: readonly Relation[];
  /** False: not embedded (yet, or for good); found by text only. */
  readonly embedded: boolean;
}

export interface SearchQuery {
  readonly text: string;
  readonly mode?: "auto" | "text" | "vector" | "hybrid";
  /** 1 to 1,000; default 10. */
  readonly limit?: number;
}

/** One hit: an event or an item of knowledge, with the fields it has in its own queries besides. */
export type SearchHit = { readonly id: string; readonly score: number } & (
  ({ readonly kind: "temporal" } & TemporalItem) | ({ readonly kind: "associative" } & KnowledgeItem)
);

export interface SearchPage {
  readonly items: readonly SearchHit[];
  /** What was really done: `auto` names its choice. */
  readonly mode: "text" | "vector" | "hybrid";
}
